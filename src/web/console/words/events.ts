/** What a machine did, in words for operators; what has none is shown by its own name. */

const EVENTS: Readonly<Record<string, string>> = {
  OPEN: 'opened',
  HEARTBEAT: 'heartbeat',
  ACTIVITY: 'activity',
  CLOCK: 'the clock',
  END: 'told to end',
};

const GUARDS: Readonly<Record<string, string>> = {
  isAfterDeadline: 'a deadline is over',
  isBeforeDeadline: 'in time',
  isPastDuration: 'maximum length is over',
  hasGoneIdle: 'silent too long',
  hasGoneStale: 'silent far too long',
  isAbandoned: 'given up',
};

export function eventWords(event: string): string {
  return EVENTS[event] ?? event;
}

export function guardWords(guard: string): string {
  return GUARDS[guard] ?? guard;
}
