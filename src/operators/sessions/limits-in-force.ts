import type { VoiceLimits, VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { LimitsInForce } from '../../protocol/operator/session.ts';
import { keyLimitsOf, leverOf } from '../../quota/ceilings.ts';
import { toldLimits } from '../../../machines/voice-session/selectors.ts';
import type { OperatorServices } from '../services.ts';

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
