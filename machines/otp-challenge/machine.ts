import { assign, emit, setup } from 'xstate';
import { attemptsKeptForAsker, sameHash } from './selectors.ts';
import type { ChallengeEvent, ChallengeFact, ChallengeRecord } from './types.ts';

function closed(record: ChallengeRecord, outcome: ChallengeRecord['outcome']): ChallengeRecord {
  return { ...record, outcome, version: record.version + 1 };
}

function attempted(record: ChallengeRecord): ChallengeRecord {
  return { ...record, attempts: record.attempts + 1 };
}

/** The law of an e-mailed code (specification section 5.2, contract section 6): single use, a bounded number of attempts, an expiry. */
export const otpChallengeMachine = setup({
  types: {
    context: {} as ChallengeRecord,
    events: {} as ChallengeEvent,
    emitted: {} as ChallengeFact,
    input: {} as ChallengeRecord,
  },
  guards: {
    hasExpired: ({ context, event }) => event.at >= context.expiresAtMs,
    isKeptForAsker: ({ context, event }) =>
      event.type === 'REDEEM' &&
      event.asker !== context.asker &&
      context.attempts >= context.maxAttempts - attemptsKeptForAsker(context),
    codeMatches: ({ context, event }) => event.type === 'REDEEM' && sameHash(event.codeHash, context.codeHash),
    isLastAttempt: ({ context }) => context.attempts + 1 >= context.maxAttempts,
  },
  actions: {
    verify: assign(({ context }) => closed(attempted(context), 'verified')),
    lock: assign(({ context }) => closed(attempted(context), 'locked')),
    expire: assign(({ context }) => closed(context, 'expired')),
    supersede: assign(({ context }) => closed(context, 'superseded')),
    countAttempt: assign(({ context }) => ({ ...attempted(context), version: context.version + 1 })),
    tellFailed: emit(({ context }) => ({
      type: 'challenge.failed',
      attemptsLeft: context.maxAttempts - context.attempts,
    })),
  },
}).createMachine({
  id: 'otp-challenge',
  context: ({ input }) => input,
  initial: 'pending',
  states: {
    pending: {
      on: {
        REDEEM: [
          { guard: 'hasExpired', target: 'expired', actions: 'expire' },
          // Not evaluated: neither right nor wrong, and no attempt.
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
    verified: { type: 'final', entry: emit({ type: 'challenge.verified' }) },
    locked: { type: 'final', entry: emit({ type: 'challenge.locked' }) },
    expired: { type: 'final', entry: emit({ type: 'challenge.expired' }) },
    superseded: { type: 'final', entry: emit({ type: 'challenge.superseded' }) },
  },
});
