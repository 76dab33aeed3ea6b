import type { Occurrences } from './moment.ts';

export type Words = Readonly<Record<string, string>>;

/** How times are written, and in which time zone. */
export interface Zone {
  readonly name: string;
  timeOf(atMs: number): string;
}

export const UTC: Zone = { name: 'UTC', timeOf: (atMs) => new Date(atMs).toISOString().slice(11, 19) };

/** Turns `voice-session` into `voice session`. */
export function titleOf(machine: string): string {
  return machine.replaceAll('-', ' ');
}

/** The words for an event or guard. A step that follows at once from the one before has no event, and an empty name. */
export function wordOf(name: string, words: Words): string {
  return name === '' ? 'at once' : (words[name] ?? name);
}

/** `14:03:12` or `3× 14:03:12`. */
export function takenText({ count, atMs }: Occurrences, zone: Zone): string {
  return count === 1 ? zone.timeOf(atMs) : `${count}× ${zone.timeOf(atMs)}`;
}

const pad = (value: number): string => String(value).padStart(2, '0');

/** `in 04:12` or `in 1:04:12`; never negative. */
export function countdownText(ms: number): string {
  if (ms <= 0) return 'due';
  const seconds = Math.ceil(ms / 1000);
  const [hours, rest] = [Math.floor(seconds / 3600), `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`];
  return hours > 0 ? `in ${hours}:${rest}` : `in ${rest}`;
}
