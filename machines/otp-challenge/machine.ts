import { assertEvent, assign, emit, setup } from 'xstate';
import { attemptsKeptForAsker, sameHash } from './selectors.ts';
import type { ChallengeEvent, ChallengeFact, ChallengeRecord } from './types.ts';

/** The end of a record, counting the attempt that led to it, if any. It ends once: later events find the machine in a final state. */
function endOf(
  { attempts, version }: ChallengeRecord,
  outcome: ChallengeRecord['outcome'],
  attempt: 0 | 1,
): Partial<ChallengeRecord> {
  return { attempts: attempts + attempt, outcome, version: version + 1 };
}

/**
 * The rules of an e-mailed code (docs/contract.md, section 6.2). ISSUE makes its record, which is the machine's context; it can be used once, has a
 * limited number of attempts, and expires. It reads no clock: each event carries its time.
 */
export const otpChallengeMachine = setup({
  types: {
    context: {} as ChallengeRecord,
    events: {} as ChallengeEvent,
    emitted: {} as ChallengeFact,
  },
  guards: {
    hasExpired: ({ context, event }) => event.at >= context.expiresAtMs,
    isKeptForAsker: ({ context, event }) => {
      assertEvent(event, 'REDEEM');
      const isForAnybody = context.attempts < context.maxAttempts - attemptsKeptForAsker(context);
      return event.asker !== context.asker && !isForAnybody;
    },
    codeMatches: ({ context, event }) => {
      assertEvent(event, 'REDEEM');
      return sameHash(event.codeHash, context.codeHash);
    },
    isLastAttempt: ({ context }) => context.attempts + 1 >= context.maxAttempts,
  },
  actions: {
    issue: assign(({ event }) => {
      assertEvent(event, 'ISSUE');
      return { ...event.terms, issuedAtMs: event.at, attempts: 0, outcome: null, version: 1 };
    }),
    verify: assign(({ context }) => endOf(context, 'verified', 1)),
    lock: assign(({ context }) => endOf(context, 'locked', 1)),
    expire: assign(({ context }) => endOf(context, 'expired', 0)),
    supersede: assign(({ context }) => endOf(context, 'superseded', 0)),
    countAttempt: assign(({ context }) => ({ attempts: context.attempts + 1, version: context.version + 1 })),
    tellFailed: emit(({ context }) => ({
      type: 'challenge.failed',
      attemptsLeft: context.maxAttempts - context.attempts,
    })),
    tellVerified: emit({ type: 'challenge.verified' }),
    tellLocked: emit({ type: 'challenge.locked' }),
    tellExpired: emit({ type: 'challenge.expired' }),
    tellSuperseded: emit({ type: 'challenge.superseded' }),
  },
}).createMachine({
  id: 'otp-challenge',
  // There is no record until ISSUE makes it.
  context: {} as ChallengeRecord,
  initial: 'unissued',
  states: {
    unissued: { on: { ISSUE: { target: 'pending', actions: 'issue' } } },
    pending: {
      on: {
        REDEEM: [
          { guard: 'hasExpired', target: 'expired', actions: 'expire' },
          // Not evaluated: neither right nor wrong, and not counted as an attempt.
          { guard: 'isKeptForAsker' },
          { guard: 'codeMatches', target: 'verified', actions: 'verify' },
          { guard: 'isLastAttempt', target: 'locked', actions: 'lock' },
          { actions: ['countAttempt', 'tellFailed'] },
        ],
        SUPERSEDE: [
          { guard: 'hasExpired', target: 'expired', actions: 'expire' },
          { target: 'superseded', actions: 'supersede' },
        ],
        CLOCK: { guard: 'hasExpired', target: 'expired', actions: 'expire' },
      },
    },
    verified: { type: 'final', entry: 'tellVerified' },
    locked: { type: 'final', entry: 'tellLocked' },
    expired: { type: 'final', entry: 'tellExpired' },
    superseded: { type: 'final', entry: 'tellSuperseded' },
  },
});
