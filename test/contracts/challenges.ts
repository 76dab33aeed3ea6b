import { describe, expect, test } from 'vitest';
import type { ChallengeRecord } from '../../machines/otp-challenge/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { Challenges } from '../../src/stores/challenges/contract.ts';
import { recordStoreContract } from './record-store.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

function challenge(changes: Partial<ChallengeRecord> = {}): ChallengeRecord {
  return {
    id: randomId(),
    subject: randomId(),
    codeHash: 'hash',
    issuedAtMs: DAY_BEGIN,
    expiresAtMs: DAY_BEGIN + 600_000,
    attempts: 0,
    maxAttempts: 5,
    outcome: null,
    version: 1,
    ...changes,
  };
}

export function challengesContract(name: string, make: Make<Challenges>): void {
  describe(`OTP challenges, ${name}`, () => {
    const challenges = nodesOf(make);

    recordStoreContract(
      challenges,
      () => challenge(),
      (record): ChallengeRecord => ({
        ...record,
        attempts: record.attempts + 1,
        outcome: 'locked',
        version: record.version + 1,
      }),
    );

    test("the newest is the subject's last one, whatever its state and times", async () => {
      const subject = randomId();
      expect(await challenges().newest(subject)).toBeUndefined();
      const first = challenge({ subject, issuedAtMs: DAY_BEGIN + 5 });
      const second = challenge({ subject, issuedAtMs: DAY_BEGIN });
      await challenges().insert(first);
      expect(await challenges().newest(subject)).toEqual(first);
      await challenges().insert(second);
      await challenges().insert(challenge());
      expect(await challenges().newest(subject)).toEqual(second);
      const verified = { ...second, outcome: 'verified', version: 2 } as const;
      await challenges().save(verified, 1);
      expect(await challenges().newest(subject)).toEqual(verified);
    });

    test('a purge deletes what expired before, and no more', async () => {
      const old = challenge({ expiresAtMs: DAY_BEGIN - 1 });
      const young = challenge({ expiresAtMs: DAY_BEGIN });
      await challenges().insert(old);
      await challenges().insert(young);
      await Promise.all([challenges().purge(DAY_BEGIN), challenges().purge(DAY_BEGIN)]);
      expect(await challenges().load(old.id)).toBeUndefined();
      expect(await challenges().load(young.id)).toEqual(young);
    });
  });
}
