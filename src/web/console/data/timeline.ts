import type { OperatorEvent } from './shapes.ts';
import { MINUTE_MS } from './durations.ts';

/** Longer silences are folded into one entry. */
const FOLD_AFTER_MS = 2 * MINUTE_MS;

/** An entry of the list. An event may stand for older ones that are like it. */
export type Entry =
  | { readonly kind: 'event'; readonly event: OperatorEvent; readonly older: readonly OperatorEvent[] }
  | { readonly kind: 'silence'; readonly ms: number; readonly id: string };

/**
 * The entries for events, newest first: long silences between them, and repeated tries to hang up a call as one entry, unless anything else happened
 * between them.
 * @param at the event that is looked at, which has an entry of its own
 */
export function folded(events: readonly OperatorEvent[], at?: string): readonly Entry[] {
  const entries: Entry[] = [];
  /** Older tries to hang up each call, as far as only such tries were made since. */
  const tries = new Map<unknown, OperatorEvent[]>();
  events.forEach((event, index) => {
    const isTry = event.kind === 'stayed' && event.event === 'HANGUP_ANSWERED' && event.id !== at;
    const like = tries.get(event.detail['call']);
    if (isTry && like) {
      like.push(event);
      return;
    }
    const older: OperatorEvent[] = [];
    if (isTry) tries.set(event.detail['call'], older);
    else tries.clear();
    const newer = events[index - 1];
    const ms = newer === undefined ? 0 : Date.parse(newer.at) - Date.parse(event.at);
    if (ms > FOLD_AFTER_MS) entries.push({ kind: 'silence', ms, id: `before-${newer?.id}` });
    entries.push({ kind: 'event', event, older });
  });
  return entries;
}

/** The machine's state after an event; undefined if the events do not go back to when it entered that state. */
export function stateAt(events: readonly OperatorEvent[], id: string): string | undefined {
  const here = events.findIndex((event) => event.id === id);
  return here < 0 ? undefined : (events.slice(here).find(({ to }) => to !== null)?.to ?? undefined);
}

/** The event that a step leads to: +1 to the next newer one, -1 to the next older one. Undefined means now, which follows the newest. */
export function stepFrom(
  events: readonly OperatorEvent[],
  at: string | undefined,
  by: 1 | -1 | 'start' | 'now',
): string | undefined {
  if (by === 'now') return undefined;
  if (by === 'start') return events.at(-1)?.id;
  const here = at === undefined ? -1 : events.findIndex(({ id }) => id === at);
  const there = Math.min(events.length - 1, here - by);
  return there < 0 ? undefined : events[there]?.id;
}

/** The rows of a list whose first page was read again. Older rows stay, unless there are more new ones than fit on a page. */
export function joined(
  first: readonly OperatorEvent[],
  isFirstLast: boolean,
  before: readonly OperatorEvent[],
): { readonly events: readonly OperatorEvent[]; readonly isJoined: boolean } {
  const [ids, end] = [new Set(first.map(({ id }) => id)), first.at(-1)];
  const isJoined = !isFirstLast && before.some(({ id }) => ids.has(id));
  const older = before.filter(({ id, at }) => !ids.has(id) && end !== undefined && at <= end.at);
  return { events: isJoined ? [...first, ...older] : first, isJoined };
}

/** What a machine's chart is drawn from: its own events, and other rows as instants that change no state. */
export function charted(own: readonly OperatorEvent[], rows: readonly OperatorEvent[]): readonly OperatorEvent[] {
  const ids = new Set(own.map(({ id }) => id));
  const others = rows
    .filter(({ id }) => !ids.has(id))
    .map((row) => (row.about === 'call' ? { ...row, from: null, to: null } : row));
  return [...own, ...others].toSorted((one, other) => (one.at === other.at ? 0 : one.at > other.at ? -1 : 1));
}
