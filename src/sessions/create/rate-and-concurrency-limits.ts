import { andThen, awaitedLater } from '../../kernel/async.ts';
import { randomId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { unitOf } from '../../protocol/errors/error-row.ts';
import { mustWait, Refusal } from '../../protocol/refusal.ts';
import { leverOf, leverOfShared, SHARED_BY, type SharedCeilings } from '../../quota/ceilings.ts';

import type { CounterTake, TakenCount } from '../../stores/counters/contract.ts';
import type { KeySlotLimits } from '../../stores/key-slots/contract.ts';
import type {
  AdmittedCaller,
  ConfigFound,
  ReadyToCount,
  CountingContext,
  CountingStep,
  CreateDeps,
  CreateStep,
} from './step.ts';

/** The lease of a slot taken for a mint outlives the provider's time-out by this much, in case this process dies. */
const MINT_GRACE_MS = 10_000;

/**
 * Names the session, and starts reading the totals of the day, so that this query travels together with the count of the minute. The minute still
 * refuses first.
 */
export const beginOpening: CreateStep = {
  name: 'opening',
  take(context: ConfigFound, { clock, usage, config }: Pick<CreateDeps, 'clock' | 'usage' | 'config'>) {
    const { caller, config: terms } = context;
    const atMs = clock.now();
    context.opening = {
      sessionId: `s:${caller.subject}:${randomId()}`,
      atMs,
      leaseUntilMs: atMs + config.upstream.timeoutMs + MINT_GRACE_MS,
      quotaRefusal: awaitedLater(usage.refuseIfSpent({ ...caller, agentId: terms.agentId }, atMs)),
    };
    return undefined;
  },
};

/** A caller who has used up the day has also used its try of the minute. */
export const refuseSpent: CountingStep = {
  name: 'quota',
  async take(context: ReadyToCount) {
    const refusal = await context.opening.quotaRefusal;
    if (refusal !== undefined) context.keepsCount = true;
    return refusal;
  },
};

/** A window that counts sessions. */
interface SessionsWindow {
  readonly key: string;
  readonly limit: number;
  /** Who shares the window, as the refused caller is told. */
  readonly sharedBy: string | undefined;
  readonly lever: string;
}

/** Counts the session among those of its subject in this minute. */
export const countSubject = countingStep('minute', ({ subject, keyId, limits, overrides }) => ({
  key: `sessions:${subject}`,
  limit: limits.sessionsPerMinute,
  sharedBy: undefined,
  lever: leverOf('sessionsPerMinute', { keyId, overrides }),
}));

/** Counts it for the whole key, after the subject: a visitor who is over their own limit takes nothing of what all share. */
export const countKey = countingStep('minute of the key', (caller) => sharedWindow('key', caller));

export const countTenant = countingStep('minute of the tenant', (caller) => sharedWindow('tenant', caller));

/** @param windowOf returns undefined where there is no such limit */
function countingStep(
  name: string,
  windowOf: (caller: AdmittedCaller) => SessionsWindow | undefined,
): CountingStep<TakenCount> {
  return {
    name,
    async take({ caller, opening: { atMs } }: ReadyToCount, { stores }) {
      const window = windowOf(caller);
      if (window === undefined) return undefined;
      const taken = await stores.counters.take(window.key, window.limit, MINUTE_MS, atMs);
      return taken.allowed ? { key: window.key, windowStartMs: taken.windowStartMs } : tooMany(window, taken, atMs);
    },
    undo: (taken, { keepsCount }, { stores }) => (keepsCount === true ? undefined : stores.counters.giveBack([taken])),
  };
}

function sharedWindow(whose: SharedCeilings['whose'], { shared }: AdmittedCaller): SessionsWindow | undefined {
  const ceilings = shared.find((one) => one.whose === whose);
  const limit = ceilings?.totals.sessionsPerMinute;
  if (ceilings === undefined || limit === undefined) return undefined;
  const key = `sessions:${ceilings.account}`;
  return { key, limit, sharedBy: SHARED_BY[whose], lever: leverOfShared('sessionsPerMinute', whose) };
}

function tooMany({ limit, sharedBy, lever }: SessionsWindow, { retryAtMs }: CounterTake, atMs: number): Refusal {
  const whose = sharedBy === undefined ? '' : ` of ${sharedBy}`;
  const why = { layer: 'minute', limit, count: limit, unit: 'sessions', lever } as const;
  return mustWait(`More than ${limit} ${unitOf(limit, 'sessions')}${whose} in a minute`, retryAtMs, atMs, why);
}

/** Takes one of the subject's slots; it is leased until the session is registered. */
export const takeSlot: CountingStep<string> = {
  name: 'slot',
  take(context: ReadyToCount, { live }) {
    const { caller, opening } = context;
    const { subject, keyId, limits, overrides } = caller;
    const limit = limits.concurrentSessions;
    return andThen(
      live.slots.take(subject, opening.sessionId, limit, opening.leaseUntilMs, opening.atMs),
      (isTaken) => {
        if (isTaken) return opening.sessionId;
        const lever = leverOf('concurrentSessions', { keyId, overrides });
        return full(context, limit, `${areOpen(limit)} already; end one with /api/realtime/end.`, lever);
      },
    );
  },
  undo: (sessionId, { caller }: ReadyToCount, { live }) => live.slots.free(caller.subject, sessionId),
};

/** Takes a slot of the key and of its tenant, where they have such a ceiling. */
export const takeKeySlot: CountingStep<string> = {
  name: 'slot of the key',
  async take(context: ReadyToCount, { stores }) {
    const { caller, opening } = context;
    const { tenantId, keyId } = caller;
    const limits = keySlotLimits(caller);
    if (keyId === null || limits === undefined) return undefined;
    const { sessionId, leaseUntilMs, atMs } = opening;
    const reached = await stores.keySlots.take({ tenantId, keyId }, sessionId, limits, leaseUntilMs, atMs);
    if (reached === undefined) return sessionId;
    const limit = limits[reached] ?? 0;
    const error = `${areOpen(limit, ` of ${SHARED_BY[reached]}`)} already; try again when one has ended.`;
    return full(context, limit, error, leverOfShared('concurrentSessions', reached));
  },
  undo: (sessionId, _, { stores }) => stores.keySlots.free(sessionId),
};

/**
 * Once the session is in the history: whether its slot of key and tenant was held without interruption.
 * @throws Unavailable when the database is away
 */
export async function confirmKeySlot(
  caller: Pick<AdmittedCaller, 'tenantId' | 'keyId' | 'shared'>,
  sessionId: string,
  { stores }: Pick<CreateDeps, 'stores'>,
): Promise<boolean> {
  const { tenantId, keyId } = caller;
  const limits = keySlotLimits(caller);
  if (keyId === null || limits === undefined) return true;
  return stores.keySlots.confirm({ tenantId, keyId }, sessionId, limits);
}

/** How many sessions the key and its tenant may have open; undefined where neither has such a ceiling. */
function keySlotLimits({ shared }: { readonly shared: readonly SharedCeilings[] }): KeySlotLimits | undefined {
  const limits = shared.flatMap(({ whose, totals: { concurrentSessions } }) =>
    concurrentSessions === undefined ? [] : [[whose, concurrentSessions] as const],
  );
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/** A caller who finds no free slot has used its try of the minute. */
function full(context: CountingContext, limit: number, error: string, lever: string): Refusal {
  context.keepsCount = true;
  return new Refusal('MAX_CONCURRENT_SESSIONS', error, {}, { limit, count: limit, unit: 'sessions', lever });
}

/** `1 session is open`, `3 sessions of this tenant are open`. */
function areOpen(count: number, whose = ''): string {
  return `${count} ${unitOf(count, 'sessions')}${whose} ${count === 1 ? 'is' : 'are'} open`;
}
