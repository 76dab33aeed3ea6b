import type { StateValue } from 'xstate';
import { MINUTE_MS, SECOND_MS } from '../durations.ts';
import type { EndReason, VoiceEvent, VoiceFact, VoiceLimits, VoiceRecord, VoiceState, VoiceTerms } from './types.ts';

// What follows from a record and its limits: the deadlines (idle, stale, abandoned, longest duration), the state at a time, and the record after an
// event that moves no state.

/** A slot outlives the instant at which its session goes idle by this much: normally the clock frees it before it lapses. */
const SLOT_GRACE = 5 * SECOND_MS;

/**
 * A record that the history restores to the registry may be older than one that the registry lost. Its version starts above all that any node can
 * remember of the session, so that nothing is saved over it by accident: the history is never this many changes behind.
 */
export const RESTORED_VERSION_STEP = 1_000_000;

/** Whether a record is unchanged since it was restored: then its times may be older than what its client did. */
export function isAsRestored({ version }: VoiceRecord): boolean {
  return version % RESTORED_VERSION_STEP === 0;
}

/** The record that OPEN makes. */
export function openedRecord(terms: VoiceTerms, at: number, wordsWithinSec = 0): VoiceRecord {
  const wordsDueAtMs = wordsWithinSec === 0 ? 0 : at + wordsWithinSec * SECOND_MS;
  return liveRecord(terms, at, at, at, 0, wordsDueAtMs, at, 1);
}

/** The last instant that the maximum duration allows, even if something else ends the session earlier. */
export function longestEndMs(record: VoiceRecord, limits: VoiceLimits): number {
  return record.startedAtMs + limits.maxMinutes * MINUTE_MS;
}

/** The last instant of its duration, which is shorter while a new visitor's first words are due; the session is over right after it. */
export function durationEndMs(record: VoiceRecord, limits: VoiceLimits): number {
  const longest = longestEndMs(record, limits);
  return record.wordsDueAtMs === 0 ? longest : Math.min(record.wordsDueAtMs, longest);
}

/**
 * The last activity after a heartbeat at `seenAtMs` whose client reports `idleSec` of silence. While we hear a call, the client's report does not
 * count.
 */
export function activityAtMs(
  { heardUntilMs, lastActivityAtMs }: VoiceRecord,
  seenAtMs: number,
  idleSec: number,
): number {
  return seenAtMs < heardUntilMs ? lastActivityAtMs : Math.max(lastActivityAtMs, seenAtMs - idleSec * SECOND_MS);
}

/** The first instant at which idleSec, in whole seconds, is greater than the limit: equal is still engaged. */
export function idleAtMs(record: VoiceRecord, limits: VoiceLimits): number {
  return record.lastActivityAtMs + (limits.maxIdleSec + 1) * SECOND_MS;
}

/** The first instant at which idleSec is greater than the stale grace. */
export function staleAtMs(record: VoiceRecord, limits: VoiceLimits): number {
  return record.lastActivityAtMs + (limits.staleGraceSec + 1) * SECOND_MS;
}

/** The instant at which a stale session is given up. */
export function abandonedAtMs(record: VoiceRecord, limits: VoiceLimits): number {
  return staleAtMs(record, limits) + limits.staleReapSec * SECOND_MS;
}

/** Whether the duration ends before the session would go idle: a session that goes idle first is ended by other rules. */
export function endsByDuration(record: VoiceRecord, limits: VoiceLimits): boolean {
  return durationEndMs(record, limits) < idleAtMs(record, limits);
}

/** The state of a session at a time (docs/contract.md, section 5.4): ended wins over all, stale over idle. */
export function classify(record: VoiceRecord, at: number, limits: VoiceLimits): VoiceState {
  if (record.endedAtMs !== null) return 'ended';
  if (endsByDuration(record, limits)) return at > durationEndMs(record, limits) ? 'ended' : 'engaged';
  if (at >= abandonedAtMs(record, limits)) return 'ended';
  if (at >= staleAtMs(record, limits)) return 'stale';
  return at >= idleAtMs(record, limits) ? 'idle' : 'engaged';
}

/**
 * The state in which the machine left a record. A record without an end is never `ended`, even if lowered limits say so: the clock must still end it,
 * once, with a reason and a fact.
 */
export function savedState(record: VoiceRecord, limits: VoiceLimits): VoiceState {
  const state = classify(record, record.settledAtMs, limits);
  if (state !== 'ended' || record.endedAtMs !== null) return state;
  return endsByDuration(record, limits) ? 'engaged' : 'stale';
}

const stateValues = {
  engaged: { live: 'engaged' },
  idle: { live: { dormant: 'idle' } },
  stale: { live: { dormant: 'stale' } },
  ended: 'ended',
} as const satisfies Record<VoiceState, StateValue>;

/** `savedState` as the machine writes it: the path through its nested states. */
export function stateValue(record: VoiceRecord, limits: VoiceLimits): StateValue {
  return stateValues[savedState(record, limits)];
}

const statesAfter = {
  'session.idle': 'idle',
  'session.stale': 'stale',
  'session.ended': 'ended',
} as const satisfies Record<VoiceFact['type'], VoiceState>;

/** The state that a fact says was entered. */
export function stateAfter(fact: VoiceFact): VoiceState {
  return statesAfter[fact.type];
}

/** When the clock alone changes the state next; Infinity for an ended session. */
export function nextDeadline(record: VoiceRecord, limits: VoiceLimits): number {
  const state = savedState(record, limits);
  if (state === 'engaged') return Math.min(durationEndMs(record, limits) + 1, idleAtMs(record, limits));
  if (state === 'idle') return staleAtMs(record, limits);
  return state === 'stale' ? abandonedAtMs(record, limits) : Infinity;
}

/** What the clock alone does to a session next, at `nextDeadline`; undefined for an ended session. */
export function nextMove(
  record: VoiceRecord,
  limits: VoiceLimits,
): { readonly atMs: number; readonly to: VoiceState; readonly reason: EndReason | null } | undefined {
  if (record.endedAtMs !== null) return undefined;
  const atMs = nextDeadline(record, limits);
  // If a grace period is zero, its state is passed through at once.
  const to = classify(record, Math.max(atMs, record.settledAtMs), limits);
  if (to !== 'ended') return { atMs, to, reason: null };
  return { atMs, to, reason: endsByDuration(record, limits) ? 'duration_exceeded' : 'abandoned' };
}

/** Until when the session's slot is leased; undefined if it holds none, because it is not engaged. */
export function slotUntilMs(record: VoiceRecord, limits: VoiceLimits): number | undefined {
  const isEngaged = classify(record, record.settledAtMs, limits) === 'engaged';
  return isEngaged ? idleAtMs(record, limits) + SLOT_GRACE : undefined;
}

/** Whole seconds since the last activity, up to the end for an ended session. */
export function idleSec(record: VoiceRecord, at: number): number {
  return Math.max(0, Math.floor(((record.endedAtMs ?? at) - record.lastActivityAtMs) / SECOND_MS));
}

/** Whole seconds since the start, up to the end for an ended session. */
export function durationSec(record: VoiceRecord, at: number): number {
  return Math.max(0, Math.floor(((record.endedAtMs ?? at) - record.startedAtMs) / SECOND_MS));
}

/**
 * The fast path beside the machine: the record after a heartbeat, activity, or a report about a heard call that moves no state, without activating an
 * actor; undefined when the machine must decide. A property test proves that it answers as the machine does, whenever no state moves: a change of
 * these events in the machine must be made here too.
 */
export function fastPath(record: VoiceRecord, event: VoiceEvent, limits: VoiceLimits): VoiceRecord | undefined {
  const { type } = event;
  if (type !== 'HEARTBEAT' && type !== 'ACTIVITY' && type !== 'HEARD') return undefined;
  const at = engagedAt(record, event.at, limits);
  if (at === undefined) return undefined;
  const { lastSeenAtMs, lastActivityAtMs, heardUntilMs } = record;
  if (type === 'HEARTBEAT') return touched(record, at, activityAtMs(record, at, event.idleSec ?? 0), heardUntilMs, at);
  if (type === 'ACTIVITY') return touched(record, lastSeenAtMs, at, heardUntilMs, at);
  return touched(record, lastSeenAtMs, lastActivityAtMs, event.untilMs, at);
}

/** Whether `after` says something else about its session than `before`, apart from their versions. */
export function movesOn(before: VoiceRecord, after: VoiceRecord): boolean {
  return (
    after.lastSeenAtMs !== before.lastSeenAtMs ||
    after.lastActivityAtMs !== before.lastActivityAtMs ||
    after.heardUntilMs !== before.heardUntilMs ||
    after.wordsDueAtMs !== before.wordsDueAtMs ||
    after.settledAtMs !== before.settledAtMs ||
    after.endedAtMs !== before.endedAtMs
  );
}

/** The time at which an event counts, never before the record's own; undefined unless the session is engaged then. */
function engagedAt(record: VoiceRecord, at: number, limits: VoiceLimits): number | undefined {
  if (record.endedAtMs !== null) return undefined;
  const metAtMs = Math.max(at, record.settledAtMs);
  return metAtMs >= idleAtMs(record, limits) || metAtMs > durationEndMs(record, limits) ? undefined : metAtMs;
}

function touched(
  record: VoiceRecord,
  lastSeenAtMs: number,
  lastActivityAtMs: number,
  heardUntilMs: number,
  settledAtMs: number,
): VoiceRecord {
  const { startedAtMs, wordsDueAtMs, version } = record;
  return liveRecord(
    record,
    startedAtMs,
    lastSeenAtMs,
    lastActivityAtMs,
    heardUntilMs,
    wordsDueAtMs,
    settledAtMs,
    version + 1,
  );
}

/**
 * A live session's record. Written out, so that all records have one shape in memory: this runs for every heartbeat, and spreading so many fields
 * costs eight times as much.
 */
function liveRecord(
  terms: VoiceTerms,
  startedAtMs: number,
  lastSeenAtMs: number,
  lastActivityAtMs: number,
  heardUntilMs: number,
  wordsDueAtMs: number,
  settledAtMs: number,
  version: number,
): VoiceRecord {
  return {
    id: terms.id,
    subject: terms.subject,
    caller: terms.caller,
    tenantId: terms.tenantId,
    agentId: terms.agentId,
    keyId: terms.keyId,
    named: terms.named,
    loginId: terms.loginId,
    provider: terms.provider,
    upstreamId: terms.upstreamId,
    isHeard: terms.isHeard,
    startedAtMs,
    lastSeenAtMs,
    lastActivityAtMs,
    heardUntilMs,
    wordsDueAtMs,
    settledAtMs,
    endedAtMs: null,
    endReason: null,
    version,
  };
}

/**
 * The limits that end a session by itself, as its client is told; `newVisitorSeconds` only while the session waits for a new visitor's first words.
 */
export function toldLimits(
  { startedAtMs, wordsDueAtMs }: VoiceRecord,
  { maxMinutes, maxIdleSec }: VoiceLimits,
): { readonly maxMinutes: number; readonly maxIdleSec: number; readonly newVisitorSeconds?: number } {
  const newVisitorSeconds = (wordsDueAtMs - startedAtMs) / SECOND_MS;
  return { maxMinutes, maxIdleSec, ...(wordsDueAtMs > 0 && { newVisitorSeconds }) };
}
