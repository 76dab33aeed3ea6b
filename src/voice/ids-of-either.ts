import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/eventually.ts';

/**
 * Ids that either store names: the registry may have lost some, the history does not have those yet that are just being opened.
 * @throws Unavailable when both are away
 */
export async function idsOfEither(
  ofRegistry: Eventually<string[]>,
  ofHistory: Promise<VoiceRecord[]>,
): Promise<readonly string[]> {
  const kept = ofHistory.then((records) => records.map(({ id }) => id));
  const answers = await Promise.allSettled([Promise.resolve(ofRegistry), kept]);
  const found = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  for (const one of answers)
    if (one.status === 'rejected' && (found.length === 0 || !(one.reason instanceof Unavailable))) throw one.reason;
  return [...new Set(found.flat())];
}
