import type { Entry } from '../../../support/journal.ts';
import { describe, excusedUntil, RECOVERY_MS, type History, type SessionRow } from '../history.ts';
import type { Fault } from '../faults.ts';
import type { Story } from '../stories.ts';

/** What a node takes along when it dies, and what an end by another node may not include: half a second (docs/decisions/0020), and some noise. */
const LOST_MS = 1000;
/** By how much the shared clock may differ from ours. */
const CLOCK_MS = 50;

/** Every acknowledged heartbeat is in PostgreSQL once its session has ended, except those of the second before their node died. */
export function checkKept(history: History, stories: ReadonlyMap<string, Story>): string[] {
  return [...judgedBeats(history, stories)].flatMap(([row, beat]) => {
    const lostMs = beat.sentAt - row.lastSeenAtMs;
    return lostMs > CLOCK_MS ? [`${row.id} was last heard ${lostMs} ms before ${describe(beat)}`] : [];
  });
}

/** Some heartbeats were answered before they were saved; otherwise `checkKept` has shown nothing. */
export function checkWaited({ waited }: History): string[] {
  return waited === 0 ? ['none was'] : [];
}

/** For each session that has ended, the last heartbeat that must have been kept, if there is one. */
export function judgedBeats(history: History, stories: ReadonlyMap<string, Story>): Map<SessionRow, Entry> {
  const { faults, sessions } = history;
  const judged = new Map<SessionRow, Entry>();
  for (const { id, heartbeats, isOnSocket } of stories.values()) {
    const row = sessions.get(id);
    if (row === undefined || row.endedAtMs === null || hasEndedWithoutRedis(row.endedAtMs, faults)) continue;
    const until = row.endedAtMs - LOST_MS;
    const kept = heartbeats.filter(
      (beat) =>
        beat.call === 'heartbeat' &&
        beat.outcome === 200 &&
        beat.sentAt < until &&
        !diesWithItsNode(beat, isOnSocket, faults) &&
        !isLostByRedis(beat, faults),
    );
    const last = kept.reduce<Entry | undefined>((a, b) => (a === undefined || b.sentAt > a.sentAt ? b : a), undefined);
    if (last !== undefined) judged.set(row, last);
  }
  return judged;
}

/**
 * Whether the node of an acknowledged heartbeat died, or stood still, before any store had it: only heartbeats of sockets are answered before they
 * are saved, or any while both stores are away.
 */
export function diesWithItsNode(
  { sentAt, doneAt, node }: Entry,
  isOnSocket: boolean,
  faults: readonly Fault[],
): boolean {
  const savedBy = excusedUntil(faults, doneAt, isOnSocket ? LOST_MS : 0);
  return faults.some(
    ({ kind, from, to, ...fault }) =>
      fault.node === node && (kind === 'node.kill' || kind === 'node.freeze') && from <= savedBy && to >= sentAt,
  );
}

/** Of a heartbeat that Redis has lost, PostgreSQL may know only an earlier one of the same window (`src/sessions/history-writer.ts`). */
function isLostByRedis({ sentAt }: Entry, faults: readonly Fault[]): boolean {
  return faults.some(
    ({ kind, to }) => (kind === 'redis.flush' || kind === 'redis.restart') && to + RECOVERY_MS >= sentAt,
  );
}

/** Without Redis a node ends the session that PostgreSQL knows. */
function hasEndedWithoutRedis(endedAtMs: number, faults: readonly Fault[]): boolean {
  return faults.some(
    ({ kind, from, to }) => kind.startsWith('redis.') && from <= endedAtMs + LOST_MS && to + RECOVERY_MS >= endedAtMs,
  );
}
