import { describe } from 'vitest';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { Logins } from '../../src/stores/logins/contract.ts';
import { recordStoreContract } from './record-store.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

/** A fresh login. */
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
  });
}
