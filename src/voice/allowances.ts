import type { CallerLimits } from '../../config/config.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { mustWait, Refusal } from '../protocol/refusal.ts';
import { unitOf, type Why } from '../protocol/refusal-why.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { totalCeilings, isSpent } from '../quota/ceilings.ts';
import { leverOf, ownCeilings, sharedLevers, whySpent } from '../quota/levers.ts';
import { boundedDays, leverOfShared, type SharedCeilings } from '../quota/shared-ceilings.ts';
import { quotaRefusal } from '../quota/report-usage.ts';
import type { Counters } from '../stores/counters/contract.ts';
import type { KeySlotLimits, KeySlots } from '../stores/key-slots/contract.ts';
import type { Ledger } from '../stores/ledger/contract.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { KeyLimits } from '../stores/tenants/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { both, type Undo } from './undo.ts';

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
  /** Those of all subjects of the widget key together, and of all keys of its tenant; none without a key. */
  readonly shared: readonly SharedCeilings[];
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

/** What is shared by whom, for who is refused. */
const sharers: Readonly<Record<SharedCeilings['whose'], string>> = { key: 'this widgetKey', tenant: 'this tenant' };

/** Counts a session in the present minute, of the subject, of the whole key and of the whole tenant; a refusal counts it in none. */
export async function takeMinute(
  { subject, keyId, limits, overrides, shared }: AdmittedCaller,
  at: number,
  deps: AllowanceDeps,
): Promise<Undo | Refusal> {
  const most = limits.sessionsPerMinute;
  let taken = await count(
    `sessions:${subject}`,
    most,
    sessions(most),
    leverOf('sessionsPerMinute', { keyId, overrides }),
    at,
    deps,
  );
  // After the subject's own, so that who is over that spends nothing of what all share.
  for (const { account, whose, totals } of shared) {
    const limit = totals.sessionsPerMinute;
    if (taken instanceof Refusal || limit === undefined) continue;
    const words = `${sessions(limit)} of ${sharers[whose]}`;
    const lever = leverOfShared('sessionsPerMinute', whose);
    taken = await both(taken, () => count(`sessions:${account}`, limit, words, lever, at, deps), deps);
  }
  return taken;
}

/** DAILY_QUOTA_EXCEEDED when a total of the day has reached its ceiling, the subject's or one that it shares (docs/contract.md, section 5.8). */
export async function refuseIfSpent(
  { subject, keyId, limits, overrides, shared }: Omit<AdmittedCaller, 'caller' | 'named' | 'loginId' | 'tenantId'>,
  at: number,
  { ledger, calendar }: Pick<AllowanceDeps, 'ledger' | 'calendar'>,
): Promise<Refusal | undefined> {
  const { day } = calendar(at);
  const others = boundedDays(shared).map(async (one) => ({ one, used: await ledger.totals(one.account, day) }));
  const [own, ...used] = await Promise.all([ledger.totals(subject, day), ...others]);
  if (isSpent(own, limits)) return quotaRefusal({}, whySpent(own, limits, ownCeilings({ keyId, overrides })));
  const spent = used.find((each) => isSpent(each.used, totalCeilings(each.one.totals)));
  if (spent === undefined) return undefined;
  return quotaRefusal({}, whySpent(spent.used, totalCeilings(spent.one.totals), sharedLevers(spent.one)));
}

/** Until when a slot is leased that is taken now for a session that is being opened. */
function slotLeaseUntilMs(at: number, { mintTimeoutMs }: Pick<AllowanceDeps, 'mintTimeoutMs'>): number {
  return at + mintTimeoutMs + MINT_GRACE_MS;
}

/** Takes a slot of the subject, then one of the whole key and tenant; a refusal takes none. They are leased until the session is registered. */
export async function takeSlot(
  { subject, tenantId, keyId, limits, overrides, shared }: AdmittedCaller,
  sessionId: string,
  at: number,
  deps: AllowanceDeps,
): Promise<Undo | Refusal> {
  const { slots, keySlots } = deps;
  const leaseUntilMs = slotLeaseUntilMs(at, deps);
  if (!(await slots.take(subject, sessionId, limits.concurrentSessions, leaseUntilMs, at)))
    return slotRefusal(
      `${openSessions(limits.concurrentSessions)} already; end one with /api/realtime/end.`,
      limits.concurrentSessions,
      leverOf('concurrentSessions', { keyId, overrides }),
    );
  const own: Undo = () => slots.free(subject, sessionId);
  const shares = slotLimits(shared);
  if (keyId === null || shares === undefined) return own;
  const takeShared = async (): Promise<Undo | Refusal> => {
    const full = await keySlots.take({ tenantId, keyId }, sessionId, shares, leaseUntilMs, at);
    if (full === undefined) return () => keySlots.free(sessionId);
    const most = shares[full] ?? 0;
    return slotRefusal(
      `${openSessions(most, ` of ${sharers[full]}`)} already; try again when one has ended.`,
      most,
      leverOfShared('concurrentSessions', full),
    );
  };
  return both(own, takeShared, deps);
}

/** How many sessions the key and its tenant may have open; undefined where neither has such a ceiling. */
function slotLimits(shared: readonly SharedCeilings[]): KeySlotLimits | undefined {
  const limits = shared.flatMap(({ whose, totals: { concurrentSessions: most } }) =>
    most === undefined ? [] : [[whose, most] as const],
  );
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/** Once the session is in the history: whether the slot of key and tenant was held all the time. */
export async function confirmKeySlot(
  { tenantId, keyId, shared }: AdmittedCaller,
  sessionId: string,
  { keySlots }: AllowanceDeps,
): Promise<boolean> {
  const limits = slotLimits(shared);
  if (keyId === null || limits === undefined) return true;
  return keySlots.confirm({ tenantId, keyId }, sessionId, limits);
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

/** `1 session is open`, `3 sessions of this tenant are open`. */
function openSessions(count: number, whose = ''): string {
  return `${sessions(count)}${whose} ${count === 1 ? 'is' : 'are'} open`;
}

function sessions(count: number): string {
  return `${count} ${unitOf(count, 'sessions')}`;
}

function slotRefusal(message: string, limit: number, lever: string): Refusal {
  return new Refusal('MAX_CONCURRENT_SESSIONS', message, {}, { limit, count: limit, unit: 'sessions', lever });
}
