import type { Tenant } from '../stores/tenants/contract.ts';
import { TenantsFileError } from './tenants-file.ts';

/** The tenants that do not say who may act for them: every console user may. */
export function withoutAdmins(tenants: readonly Tenant[]): Tenant[] {
  return tenants.filter(({ admins }) => admins === null);
}

/**
 * Production with CONSOLE_EMAILS=*: whoever receives mail can log in, so each tenant of the file must say who may act for it. Otherwise
 * everybody would get its sessions, with a model and instructions of their own, at its cost.
 * @throws TenantsFileError that names the tenants and what to do
 */
export function requireAdmins(tenants: readonly Tenant[], file: string): void {
  const problems = withoutAdmins(tenants).map(({ id }) => ({
    path: `tenant ${id}`,
    message: `has no admins, and CONSOLE_EMAILS=* lets everybody log in. List its "admins", or list in CONSOLE_EMAILS who may log in`,
  }));
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}
