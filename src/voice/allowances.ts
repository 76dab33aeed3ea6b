import type { CallerLimits } from '../../config/config.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { mustWait, Refusal } from '../protocol/refusal.ts';
import type { Why } from '../protocol/refusal-why.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { totalCeilings, isSpent } from '../quota/ceilings.ts';
import { keyCeilings, leverOf, ownCeilings, whySpent } from '../quota/levers.ts';
import { quotaRefusal } from '../quota/report-usage.ts';
import type { Counters } from '../stores/counters/contract.ts';
import type { KeySlots } from '../stores/key-slots/contract.ts';
import { keyAccount, type Ledger } from '../stores/ledger/contract.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { KeyLimits, KeyTotals } from '../stores/tenants/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { both, type Undo } from './undo.ts';

const MINUTE_MS = 60_000;
/** A slot that is taken for a mint outlives the provider's time-out by this much, should this process die. */
const MINT_GRACE_MS = 10_000;

/** A caller that passed the checks of key, origin, agent and bots. */
export interface AdmittedCaller {
  readonly caller: VoiceRecord['caller'];
  readonly subject: string;
  readonly tenantId: string;
  readonly keyId: string | null;
  readonly named: boolean;
  readonly loginId: string | null;
  /** The subject's own. */
  readonly limits: CallerLimits;
  /** What of them the widget key sets itself. */
  readonly overrides?: KeyLimits | undefined;
  /** Those of all subjects of the widget key together. */
  readonly totals: KeyTotals;
}

export interface AllowanceDeps {
  readonly counters: Counters;
  readonly ledger: Ledger;
  readonly slots: Slots;
  readonly keySlots: KeySlots;
  readonly mintTimeoutMs: number;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly events: Events;
}

/** Whose refusal it is, for operators. */
export function whoseOf({ tenantId, keyId, subject }: Pick<AdmittedCaller, 'tenantId' | 'keyId' | 'subject'>): Why {
  return { tenantId, keyId, subject };
}

/** Counts a session in the present minute, of the subject and of the whole key; a refusal counts it in neither. */
export async function takeMinute(
  { subject, tenantId, keyId, limits, overrides, totals }: AdmittedCaller,
  at: number,
  deps: AllowanceDeps,
): Promise<Undo | Refusal> {
  const most = limits.sessionsPerMinute;
  const own = await count(
    `sessions:${subject}`,
    most,
    `${most} sessions`,
    leverOf('sessionsPerMinute', { keyId, overrides }),
    at,
    deps,
  );
  const mostOfKey = totals.sessionsPerMinute;
  if (own instanceof Refusal || keyId === null || mostOfKey === undefined) return own;
  // After the subject's own, so that who is over that spends nothing of what all share.
  const common = `sessions:${keyAccount(tenantId, keyId)}`;
  const [words, lever] = [`${mostOfKey} sessions of this widgetKey`, 'totals.sessionsPerMinute'];
  return both(own, async () => count(common, mostOfKey, words, lever, at, deps), deps);
}

/** DAILY_QUOTA_EXCEEDED when a total of the day has reached its ceiling, the subject's or the key's (docs/contract.md, section 5.8). */
export async function refuseIfSpent(
  { subject, tenantId, keyId, limits, overrides, totals }: Omit<AdmittedCaller, 'caller' | 'named' | 'loginId'>,
  at: number,
  { ledger, calendar }: Pick<AllowanceDeps, 'ledger' | 'calendar'>,
): Promise<Refusal | undefined> {
  const { day } = calendar(at);
  const isBounded = keyId !== null && (totals.tokensDaily !== undefined || totals.dollarsDaily !== undefined);
  const [own, ofKey] = await Promise.all([
    ledger.totals(subject, day),
    isBounded ? ledger.totals(keyAccount(tenantId, keyId), day) : undefined,
  ]);
  if (isSpent(own, limits)) return quotaRefusal({}, whySpent(own, limits, ownCeilings({ keyId, overrides })));
  const ceilings = totalCeilings(totals);
  if (ofKey === undefined || !isSpent(ofKey, ceilings)) return undefined;
  return quotaRefusal({}, whySpent(ofKey, ceilings, keyCeilings));
}

/** Until when a slot is leased that is taken now for a session that is being opened. */
function slotLeaseUntilMs(at: number, { mintTimeoutMs }: Pick<AllowanceDeps, 'mintTimeoutMs'>): number {
  return at + mintTimeoutMs + MINT_GRACE_MS;
}

/** Takes a slot of the subject, then one of the whole key; a refusal takes neither. They are leased until the session is registered. */
export async function takeSlot(
  { subject, tenantId, keyId, limits, overrides, totals }: AdmittedCaller,
  sessionId: string,
  at: number,
  deps: AllowanceDeps,
): Promise<Undo | Refusal> {
  const { slots, keySlots } = deps;
  const leaseUntilMs = slotLeaseUntilMs(at, deps);
  if (!(await slots.take(subject, sessionId, limits.concurrentSessions, leaseUntilMs, at)))
    return slotRefusal(
      `${limits.concurrentSessions} sessions are open already; end one with /api/realtime/end.`,
      limits.concurrentSessions,
      leverOf('concurrentSessions', { keyId, overrides }),
    );
  const own: Undo = () => slots.free(subject, sessionId);
  const most = totals.concurrentSessions;
  if (keyId === null || most === undefined) return own;
  const takeOfKey = async (): Promise<Undo | Refusal> =>
    (await keySlots.take({ tenantId, keyId }, sessionId, most, leaseUntilMs, at))
      ? () => keySlots.free(sessionId)
      : slotRefusal(
          `${most} sessions of this widgetKey are open already; try again when one has ended.`,
          most,
          'totals.concurrentSessions',
        );
  return both(own, takeOfKey, deps);
}

/** Once the session is in the history: whether the key's slot was held all the time. */
export async function confirmKeySlot(
  { tenantId, keyId, totals }: AdmittedCaller,
  sessionId: string,
  { keySlots }: AllowanceDeps,
): Promise<boolean> {
  if (keyId === null || totals.concurrentSessions === undefined) return true;
  return keySlots.confirm({ tenantId, keyId }, sessionId);
}

/** @param what the limit in words */
async function count(
  name: string,
  limit: number,
  what: string,
  lever: string,
  at: number,
  { counters }: AllowanceDeps,
): Promise<Undo | Refusal> {
  const minute = await counters.take(name, limit, MINUTE_MS, at);
  if (minute.allowed) return () => counters.giveBack([{ key: name, windowStartMs: minute.windowStartMs }]);
  return mustWait(`More than ${what} in a minute`, minute.retryAtMs, at, {
    layer: 'minute',
    limit,
    count: limit,
    unit: 'sessions',
    lever,
  });
}

function slotRefusal(message: string, limit: number, lever: string): Refusal {
  return new Refusal('MAX_CONCURRENT_SESSIONS', message, {}, { limit, count: limit, unit: 'sessions', lever });
}
