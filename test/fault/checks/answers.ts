import type { Call, Entry } from '../../support/journal.ts';
import { describe, isAway, isNodeAway, RECOVERY_MS, type Dependency, type History } from '../history.ts';
import { limits } from '../settings.ts';
import type { Story } from '../stories.ts';

/** Goal R4. */
const ANSWER_MS = 1500;
const SEND_MS = 5000;
const CREATE_MS = limits.upstreamTimeoutMs + 1000;
/** Nodes, stores, provider, mail server and all clients share one small machine. */
const NOISE_MS = 250;
/** A socket is closed by the kernel a little before or after we know of it. */
const NODE_NOISE_MS = 500;

function timeLimit(call: Call): number {
  if (call === 'create') return CREATE_MS;
  return call === 'send' ? SEND_MS : ANSWER_MS;
}

/** What may be refused while which dependency is away: the table of the architecture's section 5. */
const refusedWithout: Readonly<Record<Call, readonly Dependency[]>> = {
  create: ['redis', 'postgres'],
  heartbeat: [],
  end: [],
  usage: ['postgres'],
  send: ['postgres', 'mail'],
  verify: ['postgres'],
  check: ['postgres'],
  logout: ['postgres'],
};

const ordinary: Readonly<Record<Call, readonly number[]>> = {
  create: [200, 429],
  heartbeat: [200, 403],
  end: [200],
  usage: [200, 429],
  send: [200],
  verify: [200, 401],
  check: [200, 401],
  logout: [200],
};

/** Every request is answered as the policy for the dependencies that are away says. */
export function checkAnswers(history: History): string[] {
  return history.journal.entries.flatMap((entry) => wrongAnswer(entry, history));
}

/** Every request is answered in time. */
export function checkSlowAnswers(history: History): string[] {
  const { journal, faults } = history;
  return journal.entries.flatMap((entry) => (isNodeAway(faults, entry, NODE_NOISE_MS) ? [] : lateness(entry, history)));
}

function lateness(entry: Entry, { stalls }: History): string[] {
  const { call, sentAt, doneAt } = entry;
  const allowedMs = timeLimit(call) + NOISE_MS + stalls.between(sentAt, doneAt);
  return doneAt - sentAt > allowedMs ? [`too slow: ${describe(entry)}`] : [];
}

function wrongAnswer(entry: Entry, { faults }: History): string[] {
  const { call, outcome, code } = entry;
  if (typeof outcome === 'string')
    return outcome === 'timeout' || isNodeAway(faults, entry, NODE_NOISE_MS) ? [] : [`no answer: ${describe(entry)}`];
  if (ordinary[call].includes(outcome)) return [];
  const away = (dependency: Dependency): boolean => isAway(faults, dependency, entry);
  const isProviderFault = call === 'create' && (outcome === 502 || outcome === 504) && away('provider');
  // A node that has just started or thawed has its connections still to make.
  const isRecovering = outcome === 503 && isNodeAway(faults, entry, RECOVERY_MS);
  const isRefusal = outcome === 503 && code === 'SERVICE_UNAVAILABLE' && refusedWithout[call].some(away);
  return isProviderFault || isRecovering || isRefusal ? [] : [`wrong answer: ${describe(entry)}`];
}

/** An engaged session is served by every node, and an ended one by none. */
export function checkHeartbeats({ faults }: History, stories: ReadonlyMap<string, Story>): string[] {
  return [...stories.values()].flatMap((story) => {
    const terminal = [...story.ends, ...story.heartbeats].filter(
      ({ call, outcome }) => outcome === (call === 'end' ? 200 : 403),
    );
    const overAt = Math.min(...terminal.map(({ doneAt }) => doneAt));
    return [...story.heartbeats, ...story.reports].flatMap((beat) => {
      const isEngaged = beat.sentAt > story.openedAt && beat.doneAt < story.engagedUntil;
      if (isEngaged && (beat.outcome === 403 || beat.outcome === 404))
        return [`an engaged session was refused: ${describe(beat)}`];
      const isLate = beat.call === 'heartbeat' && beat.outcome === 200 && beat.sentAt > overAt;
      const note = isNodeAway(faults, beat, RECOVERY_MS) ? ' (a node that was just away)' : '';
      return isLate ? [`a session that was over for ${beat.sentAt - overAt} ms went on${note}: ${describe(beat)}`] : [];
    });
  });
}
