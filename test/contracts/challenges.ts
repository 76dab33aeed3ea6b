import { describe, expect, test } from 'vitest';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import type { ChallengeRecord, ChallengeState } from '../../machines/otp-challenge/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { Challenges, Logins } from '../../src/stores/logins/contract.ts';
import { login } from './logins.ts';
import { recordStoreContract } from './record-store.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

export function challenge(changes: Partial<ChallengeRecord> = {}): ChallengeRecord {
  return {
    id: randomId(),
    subject: randomId(),
    asker: 'asker',
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

/** A node's challenges, and the logins that they open. */
interface Stores {
  readonly challenges: Challenges;
  readonly logins: Logins;
}

export function challengesContract(name: string, make: Make<Stores>): void {
  describe(`OTP challenges, ${name}`, () => {
    const stores = nodesOf(make);
    const challenges = (): Challenges => stores().challenges;

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

    test('are inserted without the fields that only a later build knows', async () => {
      const record = challenge();
      await challenges().insert({ ...record, ofALaterBuild: true } as ChallengeRecord);
      expect(await challenges().load(record.id)).toEqual(record);
    });

    test('are listed newest first, by the state at a time, page by page', async () => {
      const subject = randomId();
      const verified = challenge({ subject, outcome: 'verified' });
      const all = [
        challenge({ subject }),
        verified,
        challenge({ subject }),
        challenge({ subject, expiresAtMs: DAY_BEGIN }),
      ];
      for (const one of all) await challenges().insert(one);
      const listed = async (state: ChallengeState | undefined, atMs = DAY_BEGIN): Promise<number[]> => {
        const seen: ChallengeRecord[] = [];
        let before: number | undefined;
        do {
          const page = await challenges().list(state, atMs, before, 2);
          expect(page.searchedToMs).toBeUndefined();
          seen.push(...page.challenges.filter((one) => one.subject === subject));
          before = page.next;
        } while (before !== undefined);
        return seen.map((record) => {
          const at = all.findIndex(({ id }) => id === record.id);
          expect(record).toEqual(all[at]);
          return at;
        });
      };
      expect(await listed(undefined)).toEqual([3, 2, 1, 0]);
      expect(await listed('pending')).toEqual([2, 0]);
      expect(await listed('verified')).toEqual([1]);
      expect(await listed('expired')).toEqual([3]);
      expect(await listed('expired', DAY_BEGIN + 600_000)).toEqual([3, 2, 0]);
    });

    test('the newest challenge of a subject is its last one, whatever its state and times', async () => {
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

    test('a redeemed challenge is saved together with its login', async () => {
      const record = challenge();
      await challenges().insert(record);
      const verified = { ...record, attempts: 1, outcome: 'verified', version: 2 } as const;
      const opened = login();
      expect(await challenges().redeem(verified, 1, opened)).toBe(true);
      expect(await challenges().load(record.id)).toEqual(verified);
      expect(await stores().logins.load(opened.id)).toEqual(opened);
    });

    test('of 64 concurrent redemptions one opens a login', async () => {
      const record = challenge();
      await challenges().insert(record);
      const verified = { ...record, attempts: 1, outcome: 'verified', version: 2 } as const;
      const logins = Array.from({ length: RACERS }, () => login());
      const redeemed = await atOnce(RACERS, (n) => challenges().redeem(verified, 1, logins[n] as AuthRecord));
      const opened = await Promise.all(logins.map(async ({ id }) => stores().logins.load(id)));
      expect(opened.map((one) => one !== undefined)).toEqual(redeemed);
      expect(redeemed.filter(Boolean)).toHaveLength(1);
    });

    test('a challenge whose login cannot be inserted is not redeemed', async () => {
      const record = challenge();
      await challenges().insert(record);
      const present = login();
      await stores().logins.insert(present);
      const verified = { ...record, attempts: 1, outcome: 'verified', version: 2 } as const;
      await expect(challenges().redeem(verified, 1, present)).rejects.toThrow('duplicate key');
      expect(await challenges().load(record.id)).toEqual(record);
    });
  });
}
