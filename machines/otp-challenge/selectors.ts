import type { ChallengeRecord, ChallengeState } from './types.ts';

/** The state of a challenge at a time: a code is worthless from the instant of its expiry on. */
export function classify(record: ChallengeRecord, at: number): ChallengeState {
  if (record.outcome !== null) return record.outcome;
  return at >= record.expiresAtMs ? 'expired' : 'pending';
}

/** How many attempts are reserved for the address that asked for the code, so that a stranger's guesses cannot use up all of them. */
export function attemptsKeptForAsker({ maxAttempts }: Pick<ChallengeRecord, 'maxAttempts'>): number {
  return Math.floor(maxAttempts / 2);
}

/** Compares two hashes of equal length in a time that does not depend on where they differ. */
export function sameHash(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % b.length);
  return difference === 0;
}
