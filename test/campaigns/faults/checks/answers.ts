import { isUnknown, type Call, type Entry, type Journal } from '../../../support/journal.ts';
import type { Fault } from '../faults.ts';
import { describe, isAway, isNodeAway, RECOVERY_MS, type Dependency, type History } from '../history.ts';
import { keyRevocations } from '../revocations.ts';
import { limits } from '../settings.ts';
import type { Story } from '../stories.ts';

/** Time limits of goal R4. */
const ANSWER_MS = 1500;
const SEND_MS = 5000;
const CREATE_MS = limits.upstreamTimeoutMs + 1000;
/** Includes the provider's answer and its sideband. */
const CALL_MS = limits.upstreamTimeoutMs + limits.sidebandReadyMs + 1000;
/** Nodes, stores, provider, mail server and all clients share one small machine. */
const NOISE_MS = 250;
/** A store that gets no processor for this long makes a node's deadline pass. */
const STARVED_MS = 400;
/** A store that missed a deadline counts as away until it is seen to answer again; that is checked about once a second. */
const SILENT_MS = 2000;
/** How long a repeated create waits for a first try whose node is gone, before it is told to come again. */
const WAIT_MS = limits.upstreamTimeoutMs + 3000;
/**
 * While a single node is cut off from Redis, other nodes may continue a session that it ended until they hear of the end: a second or two
 * (docs/operations.md, "What sockets are told when nodes cannot hear each other").
 */
const UNTOLD_MS = 2000;
/** A node gives up on a Redis call after this time and goes on without Redis. */
const GIVEN_UP_MS = 500;
/** The kernel may close a socket a little before or after we notice. */
const NODE_NOISE_MS = 500;

function timeLimit(call: Call): number {
  if (call === 'create') return CREATE_MS;
  if (call === 'call') return CALL_MS;
  return call === 'send' ? SEND_MS : ANSWER_MS;
}

/** The dependencies without which each call may be refused: the table of docs/architecture.md, section 5. */
const refusedWithout: Readonly<Record<Call, readonly Dependency[]>> = {
  create: ['redis', 'postgres'],
  heartbeat: [],
  attach: [],
  end: ['postgres'],
  usage: ['postgres'],
  call: ['redis', 'postgres'],
  send: ['postgres', 'mail'],
  verify: ['postgres'],
  check: ['postgres'],
  logout: ['postgres'],
  revokeKey: ['postgres'],
  revokeLogin: ['postgres'],
};

const ordinary: Readonly<Record<Call, readonly number[]>> = {
  create: [200, 429],
  heartbeat: [200, 403],
  attach: [200, 403],
  end: [200],
  usage: [200, 429],
  // A ticket whose answer was lost is spent, or its session is over; a call may be hung up while it is being opened.
  call: [201, 401, 403, 409],
  send: [200],
  verify: [200, 401],
  check: [200, 401],
  logout: [200],
  revokeKey: [200],
  revokeLogin: [200],
};

/** Every answer is one that the policy allows, whatever is away. */
export function checkAnswers(history: History): string[] {
  return wrongAnswers(history, (entry) => !isRefusal(entry));
}

/** No request is refused or cut off unless something that it needs is away. */
export function checkRefusals(history: History): string[] {
  return wrongAnswers(history, isRefusal);
}

function isRefusal({ outcome }: Entry): boolean {
  return outcome === 503 || typeof outcome === 'string';
}

function wrongAnswers(history: History, isAsked: (entry: Entry) => boolean): string[] {
  const revoked = keyRevocations(history.journal);
  const isRefusedKey = ({ call, outcome, about, doneAt }: Entry): boolean =>
    call === 'create' && outcome === 401 && revoked(about.keyId).askedAt < doneAt;
  const isRepeat = repeats(history.journal);
  const isToComeAgain = (entry: Entry): boolean => entry.outcome === 503 && isRepeat(entry);
  return history.journal.entries
    .filter(isAsked)
    .flatMap((entry) => (isRefusedKey(entry) || isToComeAgain(entry) ? [] : wrongAnswer(entry, history)));
}

/** Every request is answered in time. */
export function checkSlowAnswers(history: History): string[] {
  const { journal, faults, stalls } = history;
  const isRepeat = repeats(journal);
  return journal.entries.flatMap((entry) => {
    if (isNodeAway(faults, entry, NODE_NOISE_MS)) return [];
    const limitMs = isRepeat(entry) ? WAIT_MS : timeLimit(entry.call);
    return lateness(entry, limitMs + NOISE_MS + stalls.between(entry.sentAt, entry.doneAt));
  });
}

/** Whether a create was tried before under the same key with an unknown outcome. */
function repeats(journal: Journal): (entry: Entry) => boolean {
  const unknownAt = new Map<string, number>();
  for (const create of journal.of('create')) {
    const { key } = create.about;
    if (key !== undefined && isUnknown(create))
      unknownAt.set(key, Math.min(create.sentAt, unknownAt.get(key) ?? Infinity));
  }
  return ({ call, sentAt, about }) => call === 'create' && sentAt > (unknownAt.get(about.key ?? '') ?? Infinity);
}

function lateness(entry: Entry, allowedMs: number): string[] {
  const { sentAt, doneAt } = entry;
  return doneAt - sentAt > allowedMs ? [`too slow: ${describe(entry)}`] : [];
}

function wrongAnswer(entry: Entry, { faults, stalls }: History): string[] {
  const { call, outcome, code } = entry;
  if (typeof outcome === 'string')
    return outcome === 'timeout' || isNodeAway(faults, entry, NODE_NOISE_MS) ? [] : [`no answer: ${describe(entry)}`];
  if (ordinary[call].includes(outcome)) return [];
  const away = (dependency: Dependency): boolean => isAway(faults, dependency, entry);
  const isProviderFault =
    (call === 'create' || call === 'call') && (outcome === 502 || outcome === 504) && away('provider');
  // A node that was stopped meanwhile may have missed the provider's answer.
  const stoodStill =
    isNodeAway(faults, entry, NODE_NOISE_MS) || stalls.between(entry.sentAt, entry.doneAt) > STARVED_MS;
  const isLateMint = (call === 'create' || call === 'call') && outcome === 504 && stoodStill;
  // A node that has just started or thawed must first make its connections.
  const isRecovering = outcome === 503 && isNodeAway(faults, entry, RECOVERY_MS);
  const isStarved = outcome === 503 && stalls.between(entry.sentAt - SILENT_MS, entry.doneAt) > STARVED_MS;
  const isPolicy = outcome === 503 && code === 'SERVICE_UNAVAILABLE' && refusedWithout[call].some(away);
  // Only PostgreSQL knows what Redis has lost.
  const isLost = outcome === 503 && away('postgres') && faults.some((fault) => hasLost(fault, entry));
  const isExcused = isProviderFault || isLateMint || isRecovering || isStarved || isPolicy || isLost;
  return isExcused ? [] : [`wrong answer: ${describe(entry)}`];
}

function hasLost({ kind, from }: Fault, { call, doneAt }: Entry): boolean {
  const asks = call === 'heartbeat' || call === 'attach';
  return asks && (kind === 'redis.flush' || kind === 'redis.restart') && from <= doneAt;
}

/** Every node serves an engaged session, and no node serves one that has ended. */
export function checkHeartbeats({ faults }: History, stories: ReadonlyMap<string, Story>): string[] {
  return [...stories.values()].flatMap((story) => {
    const terminal = [...story.ends, ...story.heartbeats].filter(
      ({ call, outcome }) => outcome === (call === 'end' ? 200 : 403),
    );
    const overAt = Math.min(...terminal.map(({ doneAt }) => doneAt));
    const untoldMs = terminal.some((entry) => entry.doneAt === overAt && isWithoutRedis(entry, faults)) ? UNTOLD_MS : 0;
    return [...story.heartbeats, ...story.reports].flatMap((beat) => {
      const isEngaged = beat.sentAt > story.openedAt && beat.doneAt < story.engagedUntil;
      if (isEngaged && (beat.outcome === 403 || beat.outcome === 404))
        return [`an engaged session was refused: ${describe(beat)}`];
      const isLate = beat.call !== 'usage' && beat.outcome === 200 && beat.sentAt > overAt + untoldMs;
      const note = isNodeAway(faults, beat, RECOVERY_MS) ? ' (a node that was just away)' : '';
      return isLate ? [`a session that was over for ${beat.sentAt - overAt} ms went on${note}: ${describe(beat)}`] : [];
    });
  });
}

/** Whether the node that answered may have been the only one without Redis; when connections break, every node notices. */
function isWithoutRedis({ sentAt, doneAt }: Entry, faults: readonly Fault[]): boolean {
  return faults.some(({ kind, from, to }) => kind === 'redis.freeze' && from <= doneAt && to + GIVEN_UP_MS >= sentAt);
}
