import { durationSec, idleSec } from '../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Subjects } from '../auth/subjects.ts';
import type { SessionView } from '../protocol/session.ts';

// Who may speak for a session, and what they are told of it.

/**
 * Whether an e-mail address proves the session's subject; a session that nobody is named for needs none (docs/contract.md, section 5.6),
 * and neither does a back end with a service token. An address that is not the session's proves a mistake, whoever sends it.
 */
export function speaksFor(
  record: VoiceRecord,
  address: string | undefined,
  subjects: Subjects,
  isService = false,
): boolean {
  if (!record.named) return true;
  if (address === undefined) return isService;
  const subject =
    record.caller === 'console' ? subjects.console(address) : subjects.widgetUser(record.tenantId, address);
  return subjects.equal(subject, record.subject);
}

const MINUTE_MS = 60_000;

const MAX_KNOWN = 2000;
const knownMinutes = new Map<number, string>();
const secondTexts = Array.from({ length: 60 }, (_, second) => String(second).padStart(2, '0'));
const milliTexts = Array.from({ length: 1000 }, (_, ms) => `.${String(ms).padStart(3, '0')}Z`);

/** A record as its client sees it at a time. */
export function viewOf(record: VoiceRecord, at: number): SessionView {
  return {
    active: record.endedAtMs === null,
    startedAt: isoInstant(record.startedAtMs),
    lastSeenAt: isoInstant(record.lastSeenAtMs),
    durationSec: durationSec(record, at),
    idleSec: idleSec(record, at),
  };
}

/** As JSON.stringify writes it, at a fraction of the cost: nothing in a view needs escaping. */
export function viewText({ active, startedAt, lastSeenAt, durationSec, idleSec }: SessionView): string {
  return `{"active":${active},"startedAt":"${startedAt}","lastSeenAt":"${lastSeenAt}","durationSec":${durationSec},"idleSec":${idleSec}}`;
}

/** ISO 8601 in UTC with milliseconds, as Date's toISOString, at a tenth of its cost: what is shown lies in few minutes. */
export function isoInstant(atMs: number): string {
  const minute = Math.floor(atMs / MINUTE_MS);
  const rest = atMs - minute * MINUTE_MS;
  const second = Math.floor(rest / 1000);
  return (knownMinutes.get(minute) ?? learn(minute)) + secondTexts[second] + milliTexts[rest - second * 1000];
}

/** @returns it up to the colon before its seconds */
function learn(minute: number): string {
  const text = new Date(minute * MINUTE_MS).toISOString().slice(0, -7);
  if (knownMinutes.size >= MAX_KNOWN) knownMinutes.clear();
  knownMinutes.set(minute, text);
  return text;
}
