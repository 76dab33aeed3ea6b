import type { AtOnce } from '../../kernel/async.ts';
import { keyAccount, tenantAccount } from '../ledger/contract.ts';
import type { Leases } from '../slots/contract.ts';
import type { KeyName, KeySlots } from './contract.ts';

/** The accounts under which the sessions of a key, and of all keys of its tenant, are counted. */
function accountsOf({ tenantId, keyId }: KeyName): { readonly key: string; readonly tenant: string } {
  return { key: keyAccount(tenantId, keyId), tenant: tenantAccount(tenantId) };
}

/** Beside what a create asks: takes what is known to be open (`hold`) and to be over (`end`). */
export interface InProcessKeySlots extends Pick<KeySlots, 'take' | 'free'> {
  hold(key: KeyName, sessionId: string, untilMs: number): void;
  end(key: KeyName, sessionId: string): void;
}

/** Key slots in this process's memory, for what need not survive it: a replay of past events, in which each lease ends with its slot. */
export function createInProcessKeySlots(leases: AtOnce<Leases>): InProcessKeySlots {
  const hold = (key: KeyName, sessionId: string, untilMs: number): void => {
    for (const account of Object.values(accountsOf(key))) leases.renew(account, sessionId, untilMs);
  };
  const end = (key: KeyName, sessionId: string): void => {
    for (const account of Object.values(accountsOf(key))) leases.free(account, sessionId);
  };
  /** Creates are replayed one after the other, so that only the latest can still be refused. */
  let latest: { readonly key: KeyName; readonly sessionId: string } | undefined;
  return {
    hold,
    end,

    async take(key, sessionId, limits, leaseUntilMs, atMs) {
      const accounts = accountsOf(key);
      for (const whose of ['key', 'tenant'] as const) {
        const limit = limits[whose];
        if (limit !== undefined && leases.count(accounts[whose], atMs) >= limit) return whose;
      }
      hold(key, sessionId, leaseUntilMs);
      latest = { key, sessionId };
      return undefined;
    },

    async free(sessionId) {
      if (latest?.sessionId === sessionId) end(latest.key, sessionId);
    },
  };
}
