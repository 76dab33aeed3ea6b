import type { Counters, CounterTake, TakenCount } from '../stores/counters/contract.ts';

/** No limit: this counter is only written so that a request that counts nothing takes as long as one that does. */
export const UNLIMITED = 1_000_000_000;

export interface ConstantTimeCount {
  /** Undefined where nothing is to be counted. */
  readonly key: string | undefined;
  /** The counter used instead, which limits nothing. */
  readonly idleKey: string;
  readonly limit: number;
  readonly windowMs: number;
}

/**
 * Counts one, or nothing, with the same query: its duration must not reveal which (docs/security.md).
 * @returns what was counted, to be given back if it turns out not to count
 * @throws Unavailable when the database is away
 */
export async function countInConstantTime(
  counters: Pick<Counters, 'take'>,
  { key, idleKey, limit, windowMs }: ConstantTimeCount,
  atMs: number,
): Promise<{ readonly allowed: boolean; readonly counts: readonly TakenCount[] }> {
  if (key === undefined) {
    await counters.take(idleKey, UNLIMITED, windowMs, atMs);
    return { allowed: true, counts: [] };
  }
  const take = await counters.take(key, limit, windowMs, atMs);
  return { allowed: take.allowed, counts: countsOf(key, take) };
}

/** What a `take` has counted: nothing if it was refused. */
export function countsOf(key: string, { allowed, windowStartMs }: CounterTake): readonly TakenCount[] {
  return allowed ? [{ key, windowStartMs }] : [];
}
