import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { NewEntry } from '../stores/journal/contract.ts';
import { span, when } from './explain-words.ts';

interface Noted {
  readonly record: VoiceRecord;
  /** The newest first. */
  readonly events: readonly NewEntry<'transition' | 'note'>[];
  /** When it is asked. */
  readonly atMs: number;
}

/** Whose socket closes so close to the end was told of it. */
const TOLD_MS = 1000;

/** A socket that closed some time before the end, and that no other followed: its client may never have heard of the end. */
export function socketOf({ record, events, atMs }: Noted): string[] {
  const sockets = events.filter(isNote).filter(({ code }) => code === 'attached' || code === 'detached');
  const [last] = sockets;
  // A session may have several, and a process that dies tells of no close.
  const closed = sockets.filter(({ code }) => code === 'detached').length;
  if (sockets.length - closed > closed) return [];
  const sinceMs = last === undefined ? 0 : (record.endedAtMs ?? atMs) - last.atMs;
  if (last?.code !== 'detached' || sinceMs < TOLD_MS) return [];
  const code = Number(last.detail['code']);
  const how = code === 1006 ? '1006, which is a connection that was cut off' : String(code);
  const before = record.endedAtMs === null ? `${span(sinceMs)} ago` : `${span(sinceMs)} before the end`;
  return [`Its last socket closed ${when(last.atMs)}, ${before}, with ${how}.`];
}

/** Of an end by the clock its client is warned, where a socket is there to be warned over. */
export function warningsOf({ record, events }: Noted): string[] {
  const { endReason, endedAtMs } = record;
  if (endReason !== 'duration_exceeded' || endedAtMs === null) return [];
  const warned = events
    .filter(isNote)
    .filter(({ code, detail }) => code === 'warned' && detail['limit'] === 'duration')
    .toReversed();
  if (warned.length === 0) return [];
  const times = [...new Set(warned.map(({ detail }) => `${String(detail['secondsLeft'])} s`))];
  return [`Its client was warned ${times.join(' and ')} before.`];
}

function isNote(entry: NewEntry): entry is NewEntry<'note'> {
  return entry.kind === 'note';
}
