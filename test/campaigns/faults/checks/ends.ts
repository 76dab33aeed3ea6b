import { LOGGED_ID } from '../biography.ts';
import { excusedUntil, type History, type SessionRow } from '../history.ts';
import { keyRevocations, type Revocations } from '../revocations.ts';
import { limits } from '../settings.ts';
import { isTalker, type Story } from '../stories.ts';

/** The limit of goal R1. */
const LATE_MS = 2000;
/** By how much the shared clock may differ from ours. */
const CLOCK_MS = 50;
const DURATION_MS = limits.maxMinutes * 60_000;
const IDLE_MS = (limits.maxIdleSec + 1) * 1000;
const ABANDONED_MS = (limits.staleGraceSec + 1 + limits.staleReapSec) * 1000;

/** Every session is in PostgreSQL, where it ended exactly once and for the right reason, and every client heard that reason. */
export function checkEnds(history: History, stories: ReadonlyMap<string, Story>): string[] {
  const revoked = keyRevocations(history.journal);
  const violations: string[] = [];
  const tell = (id: string, what: string): void => void violations.push(`${id} ${what}`);
  for (const story of stories.values())
    if (!history.sessions.has(story.id)) tell(story.id, 'was opened and is not in PostgreSQL');
  for (const row of history.sessions.values()) {
    if (row.endedAtMs === null || row.reason === null) {
      tell(row.id, `has not ended (last activity ${new Date(row.lastActivityAtMs).toISOString()})`);
      continue;
    }
    const ended = { ...row, endedAtMs: row.endedAtMs, reason: row.reason };
    const story = stories.get(row.id);
    const wrong = wrongReason(ended, story, revoked);
    if (wrong !== undefined) tell(row.id, wrong);
    const logged = history.loggedEnds.get(row.id.slice(0, LOGGED_ID)) ?? 0;
    if (logged > 1) tell(row.id, `ended ${logged} times by the nodes' logs`);
    for (const { reason, outcome } of story?.heartbeats ?? [])
      if (outcome === 403 && reason !== row.reason)
        tell(
          row.id,
          `ended with ${row.reason} at ${new Date(row.endedAtMs).toISOString()}, and a client was told ${reason}`,
        );
  }
  return violations;
}

/** Every end by the clock is written at most two seconds after its deadline, unless a store was away. */
export function checkLateEnds(history: History): string[] {
  return [...history.sessions.values()].flatMap((row) => {
    if (row.endedAtMs === null || row.reason === null) return [];
    const late = lateness({ ...row, endedAtMs: row.endedAtMs, reason: row.reason }, history);
    return late === undefined ? [] : [`${row.id} ${late}`];
  });
}

interface EndedRow extends SessionRow {
  readonly endedAtMs: number;
  readonly reason: string;
}

function wrongReason(row: EndedRow, story: Story | undefined, revoked: Revocations): string | undefined {
  const { endedAtMs, reason, startedAtMs, lastActivityAtMs } = row;
  switch (reason) {
    case 'closed_by_client':
      if (story !== undefined && !story.ends.some(({ sentAt }) => sentAt <= endedAtMs + CLOCK_MS))
        return 'was closed by its client, who did not ask for it';
      return undefined;
    case 'quota_exceeded':
      return story !== undefined && !story.email.startsWith('spender')
        ? 'ended by a quota that it cannot have used up'
        : undefined;
    case 'key_revoked':
      return story !== undefined && revoked(story.keyId).askedAt > endedAtMs + CLOCK_MS
        ? 'ended by the revocation of a key that nobody had revoked'
        : undefined;
    case 'duration_exceeded':
      return endedAtMs - startedAtMs === DURATION_MS
        ? undefined
        : `ended by duration after ${endedAtMs - startedAtMs} ms`;
    case 'abandoned':
      return endedAtMs - lastActivityAtMs === ABANDONED_MS
        ? undefined
        : `was abandoned ${endedAtMs - lastActivityAtMs} ms after its last activity`;
    case 'idle_exceeded':
      if (endedAtMs - lastActivityAtMs < IDLE_MS) return `ended as idle after ${endedAtMs - lastActivityAtMs} ms`;
      return story !== undefined && endedAtMs < story.engagedUntil
        ? 'ended as idle while its client was acknowledged'
        : undefined;
    case 'upstream_ended':
      return story !== undefined && !isTalker(story.email) ? 'ended with a call that it had not' : undefined;
    // The end of a session that a node undoes because it cannot finish its create.
    case 'create_failed':
      return story === undefined ? undefined : 'was opened, and undone as if it had not been';
    default:
      return `ended with ${reason}, which nobody asked for`;
  }
}

function lateness({ id, endedAtMs, reason }: EndedRow, { seenEnds, faults, stalls }: History): string | undefined {
  const seen = seenEnds.get(id);
  if (seen === undefined || (reason !== 'duration_exceeded' && reason !== 'abandoned')) return undefined;
  const allowed = excusedUntil(faults, endedAtMs, LATE_MS) + stalls.between(endedAtMs, endedAtMs + LATE_MS);
  if (seen.notBefore <= allowed) return undefined;
  return `(${reason}) was ended at least ${seen.notBefore - endedAtMs} ms after its deadline ${new Date(endedAtMs).toISOString()}`;
}
