import { describe, expect, test } from 'vitest';
import type { AuthRecord, AuthState } from '../../machines/auth-session/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { Logins } from '../../src/stores/logins/contract.ts';
import type { Position } from '../../src/stores/voice-history/contract.ts';
import { recordStoreContract } from './record-store.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

/** A new login. */
export function login(changes: Partial<AuthRecord> = {}): AuthRecord {
  return {
    id: `auth_${randomId()}`,
    email: 'ada@example.com',
    createdAtMs: DAY_BEGIN,
    renewedAtMs: DAY_BEGIN,
    expiresAtMs: DAY_BEGIN + 3_600_000,
    destroyedAtMs: null,
    destroyReason: null,
    version: 1,
    ...changes,
  };
}

export function loginsContract(name: string, make: Make<Logins>): void {
  describe(`console logins, ${name}`, () => {
    const logins = nodesOf(make);

    recordStoreContract(
      logins,
      () => login(),
      (record): AuthRecord => ({
        ...record,
        renewedAtMs: DAY_BEGIN + 1,
        expiresAtMs: DAY_BEGIN + 3_600_001,
        destroyedAtMs: DAY_BEGIN + 2,
        destroyReason: 'logout',
        version: record.version + 1,
      }),
    );

    test('are inserted without the fields that only a later build knows', async () => {
      const record = login();
      await logins().insert({ ...record, ofALaterBuild: true } as AuthRecord);
      expect(await logins().load(record.id)).toEqual(record);
    });

    test('are listed newest first, by the state at a time, page by page', async () => {
      const email = `${randomId()}@example.com`;
      // Later than the logins of all other tests.
      const createdAtMs = DAY_BEGIN + 10 ** 10;
      const expiresAtMs = createdAtMs + 100;
      const all = [0, 1, 1, 2].map((later) => login({ email, createdAtMs: createdAtMs + later, expiresAtMs }));
      const over = login({
        email,
        createdAtMs: createdAtMs + 3,
        expiresAtMs,
        destroyedAtMs: 5,
        destroyReason: 'logout',
      });
      for (const one of [...all, over]) await logins().insert(one);
      const listed = async (state: AuthState | undefined, atMs = createdAtMs): Promise<string[]> => {
        const seen: string[] = [];
        let after: Position | undefined;
        do {
          const page = await logins().list(state, atMs, after, 2);
          seen.push(...page.logins.filter((one) => one.email === email).map(({ id }) => id));
          after = page.logins.some((one) => one.email === email) ? page.next : undefined;
        } while (after !== undefined);
        return seen;
      };
      const newestFirst = all
        .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1))
        .map(({ id }) => id);
      expect(await listed(undefined)).toEqual([over.id, ...newestFirst]);
      expect(await listed('active')).toEqual(newestFirst);
      expect(await listed('destroyed')).toEqual([over.id]);
      expect(await listed('destroyed', expiresAtMs)).toEqual([over.id, ...newestFirst]);
      expect((await logins().ofEmail(email, 2)).map(({ id }) => id)).toEqual([over.id, newestFirst[0]]);
      expect((await logins().ofEmail(email, 9, over.createdAtMs)).map(({ id }) => id)).toEqual(newestFirst);
      expect(await logins().ofEmail(email, 3, expiresAtMs)).toEqual([]);
      expect(await logins().ofEmail(randomId(), 2)).toEqual([]);
    });
  });
}
