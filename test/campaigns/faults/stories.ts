import type { Entry, Journal } from '../../support/journal.ts';
import { diesWithItsNode } from './checks/kept.ts';
import type { Fault } from './faults.ts';
import { keyRevocations } from './revocations.ts';
import { limits } from './settings.ts';

const IDLE_MS = (limits.maxIdleSec + 1) * 1000;
const DURATION_MS = limits.maxMinutes * 60_000;

/** What the clients know about one session. */
export interface Story {
  readonly id: string;
  readonly subject: string;
  readonly email: string;
  /** Whether its heartbeats came over sockets, at least some of them. */
  readonly isOnSocket: boolean;
  /** The id of a key that may be revoked. */
  readonly keyId: string | undefined;
  /** Includes attachments of sockets. */
  readonly heartbeats: readonly Entry[];
  readonly reports: readonly Entry[];
  readonly ends: readonly Entry[];
  /** When the create was sent, and when it was answered. */
  readonly openedSentAt: number;
  readonly openedAt: number;
  /** From `openedAt` until then the session was certainly engaged and held a slot; later events may have ended it. */
  readonly engagedUntil: number;
}

/** @param canEndByReport whether a report of this address can use up its tokens */
export function tellStories(
  journal: Journal,
  faults: readonly Fault[],
  canEndByReport: (email: string) => boolean,
): Map<string, Story> {
  const bySession = new Map<string, Entry[]>();
  for (const entry of journal.of('heartbeat', 'attach', 'usage', 'end')) {
    const id = entry.about.session ?? '';
    const list = bySession.get(id);
    if (list === undefined) bySession.set(id, [entry]);
    else list.push(entry);
  }
  const stories = new Map<string, Story>();
  const endsOf = quotaEnds(journal, canEndByReport);
  const revoked = keyRevocations(journal);
  const onSockets = new Set(journal.sockets.map(({ session }) => session));
  // When a create was repeated under its key, the first try may already have been carried out.
  const firstSentAt = new Map<string, number>();
  for (const create of journal.of('create')) {
    const { key, session, email } = create.about;
    const sentAt = Math.min(create.sentAt, firstSentAt.get(key ?? '') ?? Infinity);
    if (key !== undefined) firstSentAt.set(key, sentAt);
    if (session === undefined || create.outcome !== 200 || stories.has(session)) continue;
    const endsAt = Math.min(
      isTalker(email ?? '') ? create.sentAt : Infinity,
      endsOf.get(email ?? '') ?? Infinity,
      revoked(create.about.keyId).askedAt,
    );
    const isOnSocket = onSockets.has(session);
    stories.set(session, tell(session, create, sentAt, bySession.get(session) ?? [], faults, endsAt, isOnSocket));
  }
  return stories;
}

/** Whether the session may end with its call, which the provider may end at any time. */
export function isTalker(email: string): boolean {
  return email.startsWith('talker');
}

/** For each address, when the first report was sent that may have ended its sessions. */
function quotaEnds(journal: Journal, canEndByReport: (email: string) => boolean): Map<string, number> {
  const first = new Map<string, number>();
  for (const { about, sentAt } of journal.of('usage')) {
    const email = about.email ?? '';
    if (canEndByReport(email)) first.set(email, Math.min(sentAt, first.get(email) ?? Infinity));
  }
  return first;
}

function tell(
  id: string,
  create: Entry,
  openedSentAt: number,
  entries: readonly Entry[],
  faults: readonly Fault[],
  endedFromOutsideAt: number,
  isOnSocket: boolean,
): Story {
  const of = (call: Entry['call']): Entry[] => entries.filter((entry) => entry.call === call);
  const ends = of('end');
  // Each acknowledged heartbeat was activity at the time it was sent, or later, unless it died with its node. Reports are too, but a repeated one is
  // not. Those that Redis has lost still count: a session that is rebuilt from PostgreSQL counts as active until then (`src/sessions/history-writer.ts`).
  const beats = of('heartbeat').filter((beat) => beat.outcome === 200 && !diesWithItsNode(beat, isOnSocket, faults));
  const idleAt = Math.max(openedSentAt, ...beats.map(({ sentAt }) => sentAt)) + IDLE_MS;
  return {
    id,
    subject: id.split(':')[1] ?? '',
    email: create.about.email ?? '',
    isOnSocket,
    keyId: create.about.keyId,
    heartbeats: [...of('heartbeat'), ...of('attach')],
    reports: of('usage'),
    ends,
    openedSentAt,
    openedAt: create.doneAt,
    engagedUntil: Math.min(idleAt, openedSentAt + DURATION_MS, endedFromOutsideAt, ...ends.map(({ sentAt }) => sentAt)),
  };
}
