import type { CallerLimits } from '../../config/config.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { totalCeilings, isSpent } from '../quota/ceilings.ts';
import { quotaRefusal } from '../quota/report-usage.ts';
import type { Counters, CounterTake } from '../stores/counters/contract.ts';
import type { KeySlots } from '../stores/key-slots/contract.ts';
import { keyAccount, type Ledger } from '../stores/ledger/contract.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { KeyTotals } from '../stores/tenants/contract.ts';

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
  /** Those of all subjects of the widget key together. */
  readonly totals: KeyTotals;
}

export interface AllowanceParts {
  readonly counters: Counters;
  readonly ledger: Ledger;
  readonly slots: Slots;
  readonly keySlots: KeySlots;
  readonly mintTimeoutMs: number;
  readonly calendar: (atMs: number) => QuotaDay;
}

/** How to give back what was taken, step by step. */
export type Undo = (() => unknown)[];

/**
 * Counts a session in the present minute, of the subject and of the whole key; a refusal counts it in neither.
 * @param undo gets what was counted
 */
export async function takeMinutes(
  { subject, tenantId, keyId, limits, totals }: AdmittedCaller,
  at: number,
  undo: Undo,
  { counters }: AllowanceParts,
): Promise<Refusal | undefined> {
  const own = `sessions:${subject}`;
  const minute = await counters.take(own, limits.sessionsPerMinute, MINUTE_MS, at);
  if (!minute.allowed) return rateRefusal(minute, `${limits.sessionsPerMinute} sessions`, at);
  const giveBack = () => counters.giveBack(own, minute.windowStartMs);
  undo.push(giveBack);
  if (keyId === null || totals.sessionsPerMinute === undefined) return undefined;
  const common = `sessions:${keyAccount(tenantId, keyId)}`;
  // After the subject's own, so that who is over that spends nothing of what all share.
  const total = await counters.take(common, totals.sessionsPerMinute, MINUTE_MS, at);
  if (!total.allowed) {
    undo.pop();
    await giveBack();
    return rateRefusal(total, `${totals.sessionsPerMinute} sessions of this widgetKey`, at);
  }
  undo.push(() => counters.giveBack(common, total.windowStartMs));
  return undefined;
}

/** DAILY_QUOTA_EXCEEDED when a total of the day has reached its ceiling, the subject's or the key's (contract section 5). */
export async function refuseIfSpent(
  { subject, tenantId, keyId, limits, totals }: AdmittedCaller,
  at: number,
  { ledger, calendar }: AllowanceParts,
): Promise<Refusal | undefined> {
  const { day } = calendar(at);
  const isBounded = keyId !== null && (totals.tokensDaily !== undefined || totals.dollarsDaily !== undefined);
  const [own, ofKey] = await Promise.all([
    ledger.totals(subject, day),
    isBounded ? ledger.totals(keyAccount(tenantId, keyId), day) : undefined,
  ]);
  const isOver = isSpent(own, limits) || (ofKey !== undefined && isSpent(ofKey, totalCeilings(totals)));
  return isOver ? quotaRefusal() : undefined;
}

/**
 * Takes a slot of the subject, then one of the whole key.
 * @param undo gets what was taken, also when the second is refused
 */
export async function takeSlots(
  { subject, tenantId, keyId, limits, totals }: AdmittedCaller,
  sessionId: string,
  at: number,
  undo: Undo,
  { slots, keySlots, mintTimeoutMs }: AllowanceParts,
): Promise<Refusal | undefined> {
  const leaseUntilMs = at + mintTimeoutMs + MINT_GRACE_MS;
  if (!(await slots.take(subject, sessionId, limits.concurrentSessions, leaseUntilMs, at)))
    return slotRefusal(`${limits.concurrentSessions} sessions are open already; end one with /api/realtime/end.`);
  undo.push(() => slots.free(subject, sessionId));
  const most = totals.concurrentSessions;
  if (keyId === null || most === undefined) return undefined;
  if (!(await keySlots.take({ tenantId, keyId }, sessionId, most, leaseUntilMs, at)))
    return slotRefusal(`${most} sessions of this widgetKey are open already; try again when one has ended.`);
  undo.push(() => keySlots.free(sessionId));
  return undefined;
}

/** Once the session is in the history: whether the key's slot was held all the time. */
export async function confirmKeySlot(
  { tenantId, keyId, totals }: AdmittedCaller,
  sessionId: string,
  { keySlots }: AllowanceParts,
): Promise<boolean> {
  if (keyId === null || totals.concurrentSessions === undefined) return true;
  return keySlots.confirm({ tenantId, keyId }, sessionId);
}

function rateRefusal(minute: CounterTake, what: string, at: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil((minute.retryAtMs - at) / 1000));
  return new Refusal('RATE_LIMIT_EXCEEDED', `More than ${what} in a minute; wait ${retryAfter} s.`, { retryAfter });
}

function slotRefusal(message: string): Refusal {
  return new Refusal('MAX_CONCURRENT_SESSIONS', message);
}
