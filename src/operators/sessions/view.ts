import type { VoiceLimits, VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import { type Operator, seesWholeIds, tenantsOf } from '../roles.ts';
import { refOf } from '../../kernel/ids.ts';
import { iso, isoOrNull } from '../../kernel/time.ts';
import { toUsed } from '../../protocol/operator/usage.ts';
import type { OperatorSession, LimitsInForce, sessionFilters } from '../../protocol/operator/session.ts';
import { NOTHING_USED } from '../../stores/ledger/contract.ts';
import { viewOf } from '../../sessions/records.ts';
import { nextMove, toldLimits } from '../../../machines/voice-session/selectors.ts';
import { keyLimitsOf, leverOf } from '../../quota/ceilings.ts';
import type { OperatorServices } from '../services.ts';
import type { z } from 'zod';
import type { HistoryFilter } from '../../stores/voice-history/contract.ts';

/** A session in a state, as an operator sees it. @param usage undefined where it used nothing */
export function toOperatorSession(
  record: VoiceRecord,
  state: VoiceState,
  at: number,
  operator: Operator,
  limits: VoiceLimits,
  usage = NOTHING_USED,
): OperatorSession {
  const { id, caller, tenantId, agentId, keyId, provider, upstreamId, endReason } = record;
  return {
    id: seesWholeIds(operator) ? id : refOf(id),
    ref: refOf(id),
    state,
    caller,
    emailHash: record.subject,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAt: isoOrNull(record.endedAtMs),
    endReason,
    deadline: deadlineOf(record, limits),
    session: viewOf(record, at),
    usage: toUsed(usage),
  };
}

/** When the clock alone next changes a session, as operators see it. */
export function deadlineOf(record: VoiceRecord, limits: VoiceLimits): OperatorSession['deadline'] {
  const move = nextMove(record, limits);
  return move === undefined ? null : { at: iso(move.atMs), to: move.to, reason: move.reason };
}

/** Which sessions an operator asks for. */
export type SessionQuery = Partial<
  Omit<z.output<typeof sessionFilters>, 'cursor' | 'limit' | 'sort' | 'endingWithinSec'>
>;

/** The filter for what an operator asks for, limited to what they may see. */
export function toHistoryFilter(
  { state, reason, tenantId, agentId, keyId, caller, subject, from, to, q }: SessionQuery,
  operator: Operator,
): HistoryFilter {
  const tenants = tenantsOf(operator);
  return {
    states: state,
    reasons: reason,
    tenantId,
    tenants,
    agentId,
    keyId,
    caller,
    subject,
    fromMs: from,
    toMs: to,
    idPrefix: q,
  };
}

const variables: Readonly<Record<keyof VoiceLimits, string>> = {
  maxMinutes: 'MAX_SESSION_MINUTES',
  maxIdleSec: 'MAX_SESSION_IDLE_SEC',
  staleGraceSec: 'STALE_GRACE_SEC',
  staleReapSec: 'STALE_REAP_SEC',
};

/** The limits that apply to a session and its caller now, each with the variable or the widget key's field that sets it. */
export function limitsInForce(
  record: VoiceRecord,
  limits: VoiceLimits,
  { usage: { limitsOf }, tenants: directory }: OperatorServices,
): LimitsInForce {
  const { caller, tenantId, keyId } = record;
  const { newVisitorSeconds } = toldLimits(record, limits);
  const key = keyId === null ? undefined : directory.keyNamed(tenantId, keyId);
  const values = keyLimitsOf(limitsOf(caller, tenantId, keyId));
  const by = { keyId, overrides: key?.limits ?? {} };
  const ofSession = namesOf(variables).map((name) => [name, { value: limits[name], setBy: variables[name] }] as const);
  const ofCaller = namesOf(values).map((name) => [name, { value: values[name], setBy: leverOf(name, by) }] as const);
  const ofKey = Object.entries(key?.totals ?? {}).map(([name, value]) => {
    const setBy = `totals.${name}`;
    return [setBy, { value, setBy }] as const;
  });
  const tenant = keyId === null ? undefined : directory.tenant(tenantId);
  const ofTenant = Object.entries(tenant?.totals ?? {}).map(([name, value]) => {
    return [`tenant.totals.${name}`, { value, setBy: `totals.${name} of the tenant` }] as const;
  });
  const ofNewVisitor =
    newVisitorSeconds === undefined
      ? []
      : [['newVisitorSeconds', { value: newVisitorSeconds, setBy: 'limits.newVisitorSeconds' }] as const];
  return Object.fromEntries([...ofSession, ...ofNewVisitor, ...ofCaller, ...ofKey, ...ofTenant]);
}

function namesOf<T extends object>(of: T): (keyof T & string)[] {
  return Object.keys(of) as (keyof T & string)[];
}
