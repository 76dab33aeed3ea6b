import type { Entry } from '../../../support/journal.ts';
import { describe, excusedBy, isAway, isNodeAway, RECOVERY_MS, type History } from '../history.ts';
import { keyRevocations, loginEnds, type Revocation } from '../revocations.ts';
import type { Story } from '../stories.ts';

/** Goal R8: a second, or five while something that carries the news is in trouble. */
const NEWS_MS = 1000;
const SLOW_NEWS_MS = 5000;
/** Acting on the news takes a node some time, too. */
const WORK_MS = 1000;

/** Something that still worked after it had been revoked. */
interface Look {
  readonly entry: Entry;
  readonly revoked: Revocation;
}

/** Whatever was revoked is refused everywhere in the end, and no session outlives its key. */
export function checkRevocations(history: History, stories: ReadonlyMap<string, Story>): string[] {
  const tooLate = looks(history, stories).filter(
    ({ entry, revoked }) => entry.sentAt > newsUntil(history, revoked.doneAt, entry.node),
  );
  return [...tooLate.map(tell), ...outlived(history, stories)];
}

/** Where nothing is in trouble, whatever was revoked is refused within a second. */
export function checkSlowNews(history: History, stories: ReadonlyMap<string, Story>): string[] {
  const { faults, stalls } = history;
  return looks(history, stories)
    .filter(({ entry, revoked: { doneAt } }) => {
      const span = { node: entry.node, sentAt: doneAt, doneAt: entry.doneAt };
      const isTrouble =
        isAway(faults, 'redis', span) || isAway(faults, 'postgres', span) || isNodeAway(faults, span, RECOVERY_MS);
      return !isTrouble && entry.sentAt > doneAt + NEWS_MS + stalls.between(doneAt, entry.sentAt);
    })
    .map(tell);
}

function looks(history: History, stories: ReadonlyMap<string, Story>): Look[] {
  const { journal } = history;
  const [ofKey, ofLogin] = [keyRevocations(journal), loginEnds(journal)];
  const creates = journal.of('create').map((entry) => ({ entry, revoked: ofKey(entry.about.keyId) }));
  // A session that was opened after the revocation is judged by its create, where a node that had not heard of it is excused.
  const beats = [...stories.values()]
    .filter(({ keyId, openedSentAt }) => openedSentAt <= ofKey(keyId).doneAt)
    .flatMap(({ keyId, heartbeats }) => heartbeats.map((entry) => ({ entry, revoked: ofKey(keyId) })));
  const checks = journal.of('check').map((entry) => ({ entry, revoked: ofLogin(entry.about.email) }));
  return [...creates, ...beats, ...checks].filter(
    ({ entry, revoked }) => entry.outcome === 200 && entry.sentAt > revoked.doneAt,
  );
}

function newsUntil({ faults, stalls }: History, doneAt: number, node?: number): number {
  const allowance = SLOW_NEWS_MS + WORK_MS + stalls.between(doneAt, doneAt + SLOW_NEWS_MS);
  // PostgreSQL tells a node that hears nothing by Redis; a node that was away must first start.
  const isExcuse = excusedBy('postgres', node);
  let until = doneAt + allowance;
  for (const fault of faults)
    if (isExcuse(fault) && fault.from <= until && fault.to + RECOVERY_MS >= doneAt)
      until = Math.max(until, fault.to + RECOVERY_MS + allowance);
  return until;
}

function outlived(history: History, stories: ReadonlyMap<string, Story>): string[] {
  const ofKey = keyRevocations(history.journal);
  return [...stories.values()].flatMap(({ id, keyId }) => {
    const { doneAt } = ofKey(keyId);
    const row = history.sessions.get(id);
    if (row === undefined || row.reason === 'key_revoked') return [];
    const endedAt = row.endedAtMs ?? Infinity;
    return endedAt > newsUntil(history, doneAt)
      ? [`${id} outlived its key by ${endedAt - doneAt} ms and ended with ${row.reason}`]
      : [];
  });
}

function tell({ entry, revoked }: Look): string {
  return `still good ${entry.sentAt - revoked.doneAt} ms after it was revoked: ${describe(entry)}`;
}
