import { matchesEmailList } from '../protocol/email.ts';
import type { OperatorEvent } from '../protocol/operator/event.ts';
import { covers, type TenantScope } from '../stores/tenants/contract.ts';

/** What somebody may do in the operator API (docs/contract.md, section 8); `nobody` nothing. */
export type OperatorRole = 'operator' | 'service' | 'viewer' | 'tenant_admin' | 'nobody';

/**
 * What a route for operators asks of a role: to see or to change what is of tenants, or what concerns the whole installation (logins,
 * nodes, settings). Viewers change nothing; admins of tenants are shown their own tenants, and nothing of the installation.
 */
export const RIGHTS = ['see', 'change', 'see-installation', 'change-installation'] as const;

export type Right = (typeof RIGHTS)[number];

export function mayDo(role: OperatorRole, right: Right): boolean {
  if (role === 'nobody') return false;
  if (role === 'viewer') return right === 'see' || right === 'see-installation';
  return role !== 'tenant_admin' || right === 'see' || right === 'change';
}

/** Who operates. */
export interface Operator {
  /** As the audit names who acted: an e-mail address, or `service:` and what tells one token from another. */
  readonly actor: string;
  readonly role: OperatorRole;
  /** Whose sessions, refusals, usage and keys are shown; `*` is everybody's. */
  readonly tenants: TenantScope;
}

/** Sees nothing, changes nothing. */
export const NOBODY: Operator = { actor: '', role: 'nobody', tenants: [] };

export interface OperatorsOptions {
  /** OPERATOR_EMAILS. */
  readonly operatorEmails: readonly string[];
  /** VIEWER_EMAILS. */
  readonly viewerEmails: readonly string[];
  /** The tenants whose list of admins names an address. */
  readonly administeredBy: (email: string) => readonly string[];
}

/** Finds what a login may do: of several roles the first in the order of the table in docs/contract.md, section 8. */
export function createOperators({ operatorEmails, viewerEmails, administeredBy }: OperatorsOptions) {
  return (email: string): Operator => {
    if (matchesEmailList(email, operatorEmails)) return { actor: email, role: 'operator', tenants: '*' };
    if (matchesEmailList(email, viewerEmails)) return { actor: email, role: 'viewer', tenants: '*' };
    const tenants = administeredBy(email);
    return tenants.length === 0 ? NOBODY : { actor: email, role: 'tenant_admin', tenants };
  };
}

/** Whoever brought a service token, by its name. */
export function serviceOperator(name: string): Operator {
  return { actor: name, role: 'service', tenants: '*' };
}

/** Whether an operator is shown what is of a tenant; what is of none (null) is for those alone who are shown all. */
export function seesTenant({ tenants }: Operator, tenantId: string | null): boolean {
  return covers(tenants, tenantId);
}

/** The same operator, shown one tenant alone, and nothing where that is none of theirs; all of theirs where none is named. */
export function within(operator: Operator, tenantId: string | undefined): Operator {
  return tenantId === undefined ? operator : { ...operator, tenants: seesTenant(operator, tenantId) ? [tenantId] : [] };
}

/** The tenants that an operator is shown, for a store to filter by; undefined for all. */
export function tenantsOf({ tenants }: Operator): readonly string[] | undefined {
  return tenants === '*' ? undefined : tenants;
}

/** The name of a process, for those alone who are shown all tenants: it is of the installation. */
export function nodeSeenBy({ tenants }: Operator, node: string | null): string | null {
  return tenants === '*' ? node : null;
}

/** An event as somebody is shown it: those of a call name the process that holds it beside the one that saw it. */
export function eventSeenBy(operator: Operator, event: OperatorEvent): OperatorEvent {
  if (operator.tenants === '*') return event;
  const detail = 'ownerNode' in event.detail ? { ...event.detail, ownerNode: null } : event.detail;
  return { ...event, detail, node: null };
}

/** Whether an operator is shown whole session ids, which prove their callers. */
export function seesWholeIds({ role }: Operator): boolean {
  return role === 'operator' || role === 'service';
}

/** How an operator sees who acted: the addresses of others whole by those who may change everything, else by their first letter. */
export function actorSeenBy({ role, actor: self }: Operator, actor: string): string {
  const at = actor.lastIndexOf('@');
  return role === 'operator' || role === 'service' || actor === self || at < 0
    ? actor
    : `${actor.slice(0, 1)}…${actor.slice(at)}`;
}
