import { durationEndMs, nextDeadline } from '../../../machines/voice-session/selectors.ts';
import type { CallLimits, CallRecord } from '../../../machines/voice-call/types.ts';
import type { VoiceLimits, VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { NewEntry } from '../../stores/journal/contract.ts';
import { moneyText } from '../../protocol/money.ts';
import type { CallMeter, UsageTotals } from '../../stores/ledger/contract.ts';
import { longestSilenceMs } from '../../sessions/records.ts';

/** A daily ceiling, the usage that counts against it, and what sets it. */
export interface QuotaFacts {
  /** Whose total is limited. */
  readonly whose: 'the caller' | 'the widget key' | 'the tenant';
  /** Null where the operator may not see it. */
  readonly used: UsageTotals | null;
  /** Infinity where there is no ceiling. */
  readonly ceilings: { readonly dailyTokens: number; readonly dailyMicroDollars: number };
  /** The variables or fields that set them. */
  readonly setBy: { readonly tokens: string; readonly dollars: string };
}

/** What is known of a session, to explain its state. */
export interface SessionFacts {
  readonly record: VoiceRecord;
  readonly limits: VoiceLimits;
  /** HEARTBEAT_INTERVAL_SEC. */
  readonly heartbeatIntervalSec: number;
  readonly callLimits: CallLimits;
  /** The time of the request. */
  readonly atMs: number;
  /** Newest first. */
  readonly calls: readonly CallRecord[];
  readonly meters: readonly CallMeter[];
  /** What its machine did, as far as that was kept; without nodes for operators who may not see them. */
  readonly events: readonly NewEntry<'transition' | 'note'>[];
  readonly lost: readonly NewEntry<'lost'>[];
  /** Its reported or metered usage; undefined where there is none. */
  readonly used: UsageTotals | undefined;
  /** The act that ended it or revoked its key, if there is one. */
  readonly act: NewEntry<'act'> | undefined;
  /** The totals on the day of its end. */
  readonly quotas: readonly QuotaFacts[];
}

/** The clock is at most two seconds late (docs/contract.md, section 5.4). */
const LATE_MS = 2000;
/** A call that was open for longer than this should have used something. */
const TALKED_MS = 10_000;

/** Facts worth knowing besides the reason: the times, and everything that does not fit together. */
export function factsOf(known: SessionFacts): string[] {
  return [
    ...timesOf(known),
    ...silenceOf(known),
    ...socketOf(known),
    ...warningsOf(known),
    ...changedLimits(known),
    ...lateness(known),
    ...known.calls.toReversed().flatMap((call) => callTold(call, known)),
    ...usageOf(known),
    ...gapsOf(known),
  ];
}

const endOf = ({ record, atMs }: SessionFacts): number => record.endedAtMs ?? atMs;

function timesOf({ record, atMs }: SessionFacts): string[] {
  const { startedAtMs, lastSeenAtMs, lastActivityAtMs } = record;
  const lasted = span((record.endedAtMs ?? atMs) - startedAtMs);
  const told = `Opened ${when(startedAtMs)}, ${record.endedAtMs === null ? 'open for' : 'lasted'} ${lasted}`;
  return [`${told}; last heartbeat ${when(lastSeenAtMs)}, last activity ${when(lastActivityAtMs)}.`];
}

/** The page of a client that sends no more heartbeats is closed, asleep or cut off, whatever the end reason says. */
function silenceOf(known: SessionFacts): string[] {
  const { record, heartbeatIntervalSec } = known;
  const silentMs = endOf(known) - record.lastSeenAtMs;
  if (silentMs <= longestSilenceMs(heartbeatIntervalSec)) return [];
  const until = record.endedAtMs === null ? 'Its client has been silent' : 'Before the end its client was silent';
  return [
    `${until} for ${span(silentMs)}, though a heartbeat was due every ${heartbeatIntervalSec} s (HEARTBEAT_INTERVAL_SEC): its page was closed, asleep or cut off.`,
  ];
}

function changedLimits({ record, limits }: SessionFacts): string[] {
  const { endedAtMs, endReason } = record;
  if (endReason !== 'duration_exceeded' || endedAtMs === null || endedAtMs === durationEndMs(record, limits)) return [];
  return [`MAX_SESSION_MINUTES is ${limits.maxMinutes} now; it was another value then.`];
}

/** An end that fell due while no process ran is found late, and dated at the time at which it was due. */
function lateness({ record, limits, atMs, events }: SessionFacts): string[] {
  if (record.endedAtMs === null) {
    const dueMs = nextDeadline(record, limits);
    if (atMs - dueMs <= LATE_MS) return [];
    return [`It was to change ${when(dueMs)}, ${span(atMs - dueMs)} ago: the clock that follows deadlines is late.`];
  }
  const end = events.find((one) => one.kind === 'transition' && one.detail.change === 'ended');
  if (end === undefined || end.atMs - record.endedAtMs <= LATE_MS) return [];
  return [
    `That was found ${when(end.atMs)}, ${span(end.atMs - record.endedAtMs)} later, by ${end.code}${end.node === null ? '' : ` on node ${end.node}`}.`,
  ];
}

function callTold(call: CallRecord, known: SessionFacts): string[] {
  const { id, state, closedAtMs, closeReason, hangup, hangupTries, unheardSinceMs } = call;
  const told: string[] = [];
  if (state === 'closed' && closedAtMs !== null)
    told.push(`Call ${id} closed ${when(closedAtMs)} (${closeReason ?? 'no reason'})${distance(closedAtMs, known)}.`);
  else if (known.record.endedAtMs !== null)
    told.push(`Call ${id} is still ${state}, ${hangupTries} tries to hang up so far.`);
  if (hangup === 'unconfirmed')
    told.push(`The provider never confirmed that call ${id} is over: see whether it still bills it.`);
  if (unheardSinceMs !== null) told.push(`Nobody here has heard call ${id} since ${when(unheardSinceMs)}.`);
  return told;
}

function distance(atMs: number, { record }: SessionFacts): string {
  const beforeMs = (record.endedAtMs ?? atMs) - atMs;
  return beforeMs >= 1000 ? `, ${span(beforeMs)} before the end` : '';
}

/** Usage is known of calls that were heard here; of others it depends on the clients, and some never report. */
function usageOf(known: SessionFacts): string[] {
  const { record, calls, meters, used } = known;
  if (!record.isHeard) {
    const isOver = record.endedAtMs !== null && record.endedAtMs - record.startedAtMs >= TALKED_MS;
    return isOver && used === undefined ? ['Its client reported no usage.'] : [];
  }
  if (calls.length === 0) return ['Its page never opened a call.'];
  const talkedMs = calls.reduce((sum, call) => sum + openFor(call, endOf(known)), 0);
  const micro = meters.reduce((sum, { microDollars }) => sum + microDollars, 0);
  const told = micro > 0 ? `${dollars(micro)} in all` : 'no usage';
  if (micro === 0 && talkedMs < TALKED_MS) return [];
  return [`Its calls were open for ${span(talkedMs)}, and the provider told of ${told}.`];
}

function openFor({ openedAtMs, closedAtMs }: CallRecord, untilMs: number): number {
  return openedAtMs === null ? 0 : Math.max(0, (closedAtMs ?? untilMs) - openedAtMs);
}

function gapsOf({ lost }: SessionFacts): string[] {
  const count = lost.reduce((sum, one) => sum + one.detail.count, 0);
  return count === 0 ? [] : [`Of its time ${count} events of some sessions were not kept; one may be its own.`];
}

/** A client whose socket closed this shortly before the end was told of the end. */
const TOLD_MS = 1000;

/** Reports a last socket that closed some time before the end: its client may never have heard of the end. */
function socketOf({ record, events, atMs }: SessionFacts): string[] {
  const sockets = events.filter(isNote).filter(({ code }) => code === 'attached' || code === 'detached');
  const [last] = sockets;
  // A session may have several sockets, and a process that dies records no close.
  const closed = sockets.filter(({ code }) => code === 'detached').length;
  if (sockets.length - closed > closed) return [];
  const sinceMs = last === undefined ? 0 : (record.endedAtMs ?? atMs) - last.atMs;
  if (last?.code !== 'detached' || sinceMs < TOLD_MS) return [];
  const code = Number(last.detail['code']);
  const how = code === 1006 ? '1006, which is a connection that was cut off' : String(code);
  const before = record.endedAtMs === null ? `${span(sinceMs)} ago` : `${span(sinceMs)} before the end`;
  return [`Its last socket closed ${when(last.atMs)}, ${before}, with ${how}.`];
}

/** A client is warned of an end by the clock, if it has a socket to be warned over. */
function warningsOf({ record, events }: SessionFacts): string[] {
  const { endReason, endedAtMs, wordsDueAtMs } = record;
  if (endReason !== 'duration_exceeded' || endedAtMs === null) return [];
  const limit = endedAtMs === wordsDueAtMs ? 'idle' : 'duration';
  const warned = events
    .filter(isNote)
    .filter(({ code, detail }) => code === 'warned' && detail['limit'] === limit)
    .toReversed();
  if (warned.length === 0) return [];
  const times = [...new Set(warned.map(({ detail }) => `${String(detail['secondsLeft'])} s`))];
  return [`Its client was warned ${times.join(' and ')} before.`];
}

function isNote(entry: NewEntry): entry is NewEntry<'note'> {
  return entry.kind === 'note';
}

/** An instant for people, in UTC: `2030-01-01 12:15:00 UTC`. */
export function when(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A duration, in the largest units that express it. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function dollars(microDollars: number): string {
  return moneyText(microDollars / 1_000_000);
}
