import { matchesEmailList } from '../protocol/email.ts';
import type { OperatorEvent } from '../protocol/operator/event.ts';
import { covers, type TenantScope } from '../stores/tenants/contract.ts';

/** Roles in the operator API (docs/contract.md, section 8); `nobody` may do nothing. */
export type OperatorRole = 'operator' | 'service' | 'viewer' | 'tenant_admin' | 'nobody';

/**
 * The right that an operator route needs: to see or to change what belongs to tenants, or what concerns the whole installation (logins,
 * nodes, settings). Viewers change nothing; tenant admins see their own tenants, and nothing of the installation.
 */
export const RIGHTS = ['see', 'change', 'see-installation', 'change-installation'] as const;

export type Right = (typeof RIGHTS)[number];

export function mayDo(role: OperatorRole, right: Right): boolean {
  if (role === 'nobody') return false;
  if (role === 'viewer') return right === 'see' || right === 'see-installation';
  return role !== 'tenant_admin' || right === 'see' || right === 'change';
}

/** An operator and what they may see. */
export interface Operator {
  /** The operator's name in the audit: an e-mail address, or `service:` and what distinguishes one token from another. */
  readonly actor: string;
  readonly role: OperatorRole;
  /** The tenants whose sessions, refusals, usage and keys are shown; `*` means all. */
  readonly tenants: TenantScope;
}

/** Sees nothing, changes nothing. */
export const NOBODY: Operator = { actor: '', role: 'nobody', tenants: [] };

export interface OperatorsOptions {
  /** OPERATOR_EMAILS. */
  readonly operatorEmails: readonly string[];
  /** VIEWER_EMAILS. */
  readonly viewerEmails: readonly string[];
  /** The tenants whose list of admins contains an address. */
  readonly administeredBy: (email: string) => readonly string[];
}

/** Finds the role of a login: the first that applies in the order of the table in docs/contract.md, section 8. */
export function createOperators({ operatorEmails, viewerEmails, administeredBy }: OperatorsOptions) {
  return (email: string): Operator => {
    if (matchesEmailList(email, operatorEmails)) return { actor: email, role: 'operator', tenants: '*' };
    if (matchesEmailList(email, viewerEmails)) return { actor: email, role: 'viewer', tenants: '*' };
    const tenants = administeredBy(email);
    return tenants.length === 0 ? NOBODY : { actor: email, role: 'tenant_admin', tenants };
  };
}

/** The operator that a service token stands for, by its name. */
export function serviceOperator(name: string): Operator {
  return { actor: name, role: 'service', tenants: '*' };
}

/** Whether an operator sees what belongs to a tenant; what belongs to none (null) is only for operators who see all. */
export function seesTenant({ tenants }: Operator, tenantId: string | null): boolean {
  return covers(tenants, tenantId);
}

/** The same operator limited to one tenant, or to nothing if they do not see that tenant; unchanged where none is named. */
export function within(operator: Operator, tenantId: string | undefined): Operator {
  return tenantId === undefined ? operator : { ...operator, tenants: seesTenant(operator, tenantId) ? [tenantId] : [] };
}

/** The tenants that an operator sees, for a store to filter by; undefined means all. */
export function tenantsOf({ tenants }: Operator): readonly string[] | undefined {
  return tenants === '*' ? undefined : tenants;
}

/** The name of a process, which only operators who see all tenants are shown, because it belongs to the installation. */
export function nodeSeenBy({ tenants }: Operator, node: string | null): string | null {
  return tenants === '*' ? node : null;
}

/** Hides processes from operators who see some tenants only: the one that saw the event, and for calls also the one that holds the call. */
export function eventSeenBy(operator: Operator, event: OperatorEvent): OperatorEvent {
  if (operator.tenants === '*') return event;
  const detail = 'ownerNode' in event.detail ? { ...event.detail, ownerNode: null } : event.detail;
  return { ...event, detail, node: null };
}

/** Whether an operator sees whole session ids, which prove their callers, and finds somebody by address. */
export function seesWholeIds({ role }: Operator): boolean {
  return role === 'operator' || role === 'service';
}

/** Who acted, as an operator sees it: roles that may change everything see others' addresses in full, all others only the first letter. */
export function actorSeenBy({ role, actor: self }: Operator, actor: string): string {
  const at = actor.lastIndexOf('@');
  return role === 'operator' || role === 'service' || actor === self || at < 0
    ? actor
    : `${actor.slice(0, 1)}…${actor.slice(at)}`;
}

/** A text in which each address is masked like that. */
export function addressesSeenBy(operator: Operator, text: string | null): string | null {
  return text?.replaceAll(/[^\s,<>"]+@[^\s,<>"]+/g, (address) => actorSeenBy(operator, address)) ?? null;
}

/** The address of a webhook. Knowing its path is often enough to post there, so roles that change nothing see its origin only. */
export function urlSeenBy({ role }: Operator, url: string): string {
  return mayDo(role, 'change') ? url : `${new URL(url).origin}/…`;
}
