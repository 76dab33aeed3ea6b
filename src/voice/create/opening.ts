import { awaitedLater } from '../../kernel/eventually.ts';
import { randomId } from '../../kernel/ids.ts';
import type { ConfigFound, CreateDeps, CreateStep, OpeningBegun } from './context.ts';

/** A slot that is taken for a mint outlives the provider's time-out by this much, should this process die. */
const MINT_GRACE_MS = 10_000;

/**
 * Names the session, and asks for the totals of the day at once, so that the question travels together with the count of the minute: the
 * minute refuses first all the same.
 */
export const beginOpening: CreateStep = {
  name: 'opening',
  take(context: ConfigFound, { clock, usage, config }: Pick<CreateDeps, 'clock' | 'usage' | 'config'>) {
    const { caller } = context;
    const atMs = clock.now();
    context.opening = {
      sessionId: `s:${caller.subject}:${randomId()}`,
      atMs,
      leaseUntilMs: atMs + config.upstream.timeoutMs + MINT_GRACE_MS,
      quotaRefusal: awaitedLater(usage.refuseIfSpent(caller, atMs)),
    };
    return undefined;
  },
};

/** Whoever has used up the day has had its try of the minute. */
export const refuseSpent: CreateStep = {
  name: 'quota',
  async take(context: OpeningBegun) {
    const refusal = await context.opening.quotaRefusal;
    if (refusal !== undefined) context.isCounted = true;
    return refusal;
  },
};
