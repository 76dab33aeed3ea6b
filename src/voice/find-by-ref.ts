import { refOf } from '../kernel/ids.ts';
import { Refusal } from '../protocol/refusal.ts';
import { sessionName } from '../protocol/session.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import { sessionNotFound } from './proof.ts';

/**
 * The whole id of the session that an operator names by its id or its ref. Sessions are in the history before they are known to
 * anybody, so it tells them all.
 * @returns SESSION_NOT_FOUND, or AMBIGUOUS for a ref that several sessions have
 * @throws Unavailable for a ref when the database is away
 */
export async function idOfNamed(name: string, history: Pick<VoiceHistory, 'list'>): Promise<string | Refusal> {
  if (!sessionName.test(name)) return sessionNotFound();
  if (refOf(name) !== name) return name;
  const page = await history.list({ idPrefix: name }, undefined, 2);
  const [first, second] = page?.rows ?? [];
  if (first === undefined) return sessionNotFound();
  if (second !== undefined)
    return new Refusal('AMBIGUOUS', 'Several sessions have this ref; name one by its whole id.');
  return first.record.id;
}
