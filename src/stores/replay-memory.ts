import type { Counters, CounterTake, TakenCount } from './counters/contract.ts';
import type { AtOnce } from '../kernel/async.ts';
import { keyAccount, tenantAccount } from './ledger/contract.ts';
import type { Leases } from './slots/contract.ts';
import type { KeyName, KeySlots } from './key-slots/contract.ts';
import { createInProcessSlots } from './in-process.ts';

/** Fresh counters, slots and key slots for one replay of past events, in this process's memory. */
export function createReplayMemory() {
  const [counters, slots] = [createInProcessCounters(), createInProcessSlots()];
  return { counters, slots, keySlots: createInProcessKeySlots(createInProcessSlots()) };
}

interface Count {
  windowStartMs: number;
  endMs: number;
  taken: number;
}

/** Expired windows are first cleaned up when this many keys are held. */
const FIRST_CLEANING = 1024;

/** Counters in this process's memory, for what need not survive it: a replay of past events. */
export function createInProcessCounters(): Counters {
  const counts = new Map<string, Count>();
  let cleaningSize = FIRST_CLEANING;

  function clean(atMs: number): void {
    for (const [key, { endMs }] of counts) if (endMs <= atMs) counts.delete(key);
    cleaningSize = Math.max(FIRST_CLEANING, counts.size * 2);
  }

  function countOf(key: string, windowMs: number, atMs: number): Count {
    const windowStartMs = atMs - (atMs % windowMs);
    const found = counts.get(key);
    if (found?.windowStartMs === windowStartMs) return found;
    if (counts.size >= cleaningSize) clean(atMs);
    const made = { windowStartMs, endMs: windowStartMs + windowMs, taken: 0 };
    counts.set(key, made);
    return made;
  }

  return {
    async take(key: string, limit: number, windowMs: number, atMs: number): Promise<CounterTake> {
      const count = countOf(key, windowMs, atMs);
      const { windowStartMs, endMs } = count;
      if (count.taken >= limit) return { allowed: false, retryAtMs: endMs, windowStartMs };
      count.taken += 1;
      return { allowed: true, retryAtMs: atMs, windowStartMs };
    },

    async giveBack(taken: readonly TakenCount[]): Promise<void> {
      for (const { key, windowStartMs } of taken) {
        const count = counts.get(key);
        if (count?.windowStartMs === windowStartMs) count.taken = Math.max(0, count.taken - 1);
      }
    },

    async read(key, windowMs, atMs) {
      const count = counts.get(key);
      return count?.windowStartMs === atMs - (atMs % windowMs) ? count.taken : 0;
    },

    async clear(key) {
      counts.delete(key);
    },
  };
}

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
