import { andThen } from '../../kernel/eventually.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { unitOf } from '../../protocol/refusal-why.ts';
import { leverOf, leverOfShared, SHARED_BY, type SharedCeilings } from '../../quota/ceilings.ts';
import type { KeySlotLimits } from '../../stores/key-slots/contract.ts';
import type { AdmittedCaller, CreateContext, CreateDeps, CreateStep, OpeningBegun } from './context.ts';

/** One of the slots of the subject; it is leased until the session is registered. */
export const takeSlot: CreateStep<string> = {
  name: 'slot',
  take(context: OpeningBegun, { slots }: Pick<CreateDeps, 'slots'>) {
    const { caller, opening } = context;
    const { subject, keyId, limits, overrides } = caller;
    const limit = limits.concurrentSessions;
    return andThen(slots.take(subject, opening.sessionId, limit, opening.leaseUntilMs, opening.atMs), (isTaken) => {
      if (isTaken) return opening.sessionId;
      const lever = leverOf('concurrentSessions', { keyId, overrides });
      return full(context, limit, `${areOpen(limit)} already; end one with /api/realtime/end.`, lever);
    });
  },
  undo: (sessionId, { caller }: OpeningBegun, { slots }) => slots.free(caller.subject, sessionId),
};

/** One of those of the whole key and of its tenant, where they have such a ceiling. */
export const takeKeySlot: CreateStep<string> = {
  name: 'slot of the key',
  async take(context: OpeningBegun, { keySlots }: Pick<CreateDeps, 'keySlots'>) {
    const { caller, opening } = context;
    const { tenantId, keyId } = caller;
    const limits = keySlotLimits(caller);
    if (keyId === null || limits === undefined) return undefined;
    const { sessionId, leaseUntilMs, atMs } = opening;
    const reached = await keySlots.take({ tenantId, keyId }, sessionId, limits, leaseUntilMs, atMs);
    if (reached === undefined) return sessionId;
    const limit = limits[reached] ?? 0;
    const error = `${areOpen(limit, ` of ${SHARED_BY[reached]}`)} already; try again when one has ended.`;
    return full(context, limit, error, leverOfShared('concurrentSessions', reached));
  },
  undo: (sessionId, _, { keySlots }) => keySlots.free(sessionId),
};

/** Once the session is in the history: whether the slot of key and tenant was held all the time. @throws Unavailable when the database is away */
export async function confirmKeySlot(
  caller: Pick<AdmittedCaller, 'tenantId' | 'keyId' | 'shared'>,
  sessionId: string,
  { keySlots }: Pick<CreateDeps, 'keySlots'>,
): Promise<boolean> {
  const { tenantId, keyId } = caller;
  const limits = keySlotLimits(caller);
  if (keyId === null || limits === undefined) return true;
  return keySlots.confirm({ tenantId, keyId }, sessionId, limits);
}

/** How many sessions the key and its tenant may have open; undefined where neither has such a ceiling. */
function keySlotLimits({ shared }: { readonly shared: readonly SharedCeilings[] }): KeySlotLimits | undefined {
  const limits = shared.flatMap(({ whose, totals: { concurrentSessions } }) =>
    concurrentSessions === undefined ? [] : [[whose, concurrentSessions] as const],
  );
  return limits.length === 0 ? undefined : Object.fromEntries(limits);
}

/** Whoever finds no slot has had its try of the minute. */
function full(context: CreateContext, limit: number, error: string, lever: string): Refusal {
  context.isCounted = true;
  return new Refusal('MAX_CONCURRENT_SESSIONS', error, {}, { limit, count: limit, unit: 'sessions', lever });
}

/** `1 session is open`, `3 sessions of this tenant are open`. */
function areOpen(count: number, whose = ''): string {
  return `${count} ${unitOf(count, 'sessions')}${whose} ${count === 1 ? 'is' : 'are'} open`;
}
