import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';

export interface LookUpParts {
  readonly registry: Pick<VoiceRegistry, 'load'>;
  readonly history: Pick<VoiceHistory, 'endedAmong'>;
}

export interface LookedUp {
  /** Those that were found: with an end, where either store knows of one. */
  readonly records: readonly VoiceRecord[];
  /** False when a store was away: what it knows is missing. */
  readonly isWhole: boolean;
}

/**
 * The present records of many sessions in one call of each store. The history may know of ends that the registry does not have yet, and
 * the registry of some that wait for the history.
 */
export async function lookUp(ids: readonly string[], { registry, history }: LookUpParts): Promise<LookedUp> {
  const [held, ended] = await Promise.allSettled([
    // Asked for at once they share a script call.
    Promise.all(ids.map(async (id) => registry.load(id))),
    history.endedAmong(ids),
  ]);
  const found = new Map<string, VoiceRecord>();
  for (const record of valueOf(held)) if (record !== undefined) found.set(record.id, record);
  for (const record of valueOf(ended)) found.set(record.id, record);
  return {
    records: [...found.values()],
    isWhole: held.status === 'fulfilled' && ended.status === 'fulfilled',
  };
}

function valueOf<T>(settled: PromiseSettledResult<readonly T[]>): readonly T[] {
  if (settled.status === 'fulfilled') return settled.value;
  if (settled.reason instanceof Unavailable) return [];
  throw settled.reason;
}
