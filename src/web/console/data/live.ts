/**
 * Tells views when to read again, and how fresh their data is. The service's feed reports changes; a view need not read what it can take
 * from the feed. Without a feed, the service is asked every five seconds. A hidden page stops after a minute, and asks again as soon as it is
 * visible.
 */
import { computed, signal, type Signal } from '@preact/signals';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { isForbidden, type Failure } from './api.ts';
import { HIDDEN_REST_MS, isFeedOpen, listen, retryMs, type Watch } from './feed.ts';
import { noteServerTime, now } from './server-time.ts';
import { SECOND_MS } from './durations.ts';

const ASK_EVERY_MS = 5 * SECOND_MS;
/** Needed beside the feed too: the feed does not report heartbeats, and a login expires unless it is used. */
const ASK_BESIDE_FEED_MS = 30 * SECOND_MS;
/** What the feed does not report is read as often as without a feed. */
export const UNTOLD_MS = ASK_EVERY_MS;
const STALE_AFTER_MS = 6 * SECOND_MS;
const AWAY_AFTER_MS = 15 * SECOND_MS;
/** The least time between two readings of the views, however much happens. */
const BETWEEN_READINGS_MS = 3 * SECOND_MS;
/** After this time, what happened is in the database, and other nodes know what is watched here. */
const WRITTEN_AFTER_MS = 3 * SECOND_MS;

/** Reads what a view shows again. @returns whether the service answered */
export type Refresh = () => Promise<boolean>;

/** Set only by hand. It survives navigation, and what arrives while paused has to wait. */
export const isPaused = signal(false);
/** When the service was last heard from, in the server's time. */
export const heardAt = signal(now.value);
/** When a service that does not answer is asked again. */
export const retryAt = signal<number | undefined>(undefined);
/** How many changes are waiting, because the page is paused or because a list does not move by itself. */
export const waiting = signal(0);
/** Whether the node that sends the feed is cut off from the others. */
export const isPartial = signal(false);
/** Whether the service answers but cannot read its database. */
export const isUnread = signal(false);

export type Freshness = 'live' | 'stale' | 'away';

export const freshness = computed<Freshness>(() => {
  if (!isFeedOpen.value && retryAt.value === undefined) return 'live';
  const silentMs = now.value - heardAt.value - (isFeedOpen.value ? 0 : ASK_EVERY_MS);
  if (silentMs < STALE_AFTER_MS) return 'live';
  return silentMs < AWAY_AFTER_MS ? 'stale' : 'away';
});

/** Something that is shown, and how it is kept up to date. */
export interface View {
  readonly refresh: Refresh;
  /** Applies a frame of the feed. @returns whether the view must be read again to show it; without `take`, every change requires that */
  readonly take?: ((frame: FeedFrame) => boolean) | undefined;
  /** How often the view is read in addition to the feed. */
  readonly besideFeedMs?: number | undefined;
}

const views = new Set<View>();
let timer: ReturnType<typeof setTimeout> | undefined;
let dueAtMs = Infinity;
let readAtMs = -Infinity;
/** When everything that was reported so far is in the database. */
let writtenAtMs = -Infinity;
let failures = 0;
let hiddenSinceMs: number | undefined;

/**
 * Reads a view whenever something may have changed that it cannot take from the feed, until the returned function is called.
 * @param watch what the feed should report; the view that was added last decides
 */
export function keepFresh(view: View, watch: Watch): () => void {
  views.add(view);
  listen(watch, { onFrame, onLost: () => plan(0) });
  if (isFeedOpen.peek()) readOnceMore();
  else if (timer === undefined) planNext();
  return () => void views.delete(view);
}

/** Reads everything that is shown again, now. */
export async function refreshAll(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  readAtMs = Date.now();
  const outcomes = await Promise.all([...views].map(({ refresh }) => refresh()));
  noteOutcome(outcomes.every(Boolean));
}

/** The same reading, except while the page is paused, and after a refusal: another request would add to those that operators look at. */
export function unlessRefused(failure: Signal<Failure | undefined>, refresh: Refresh): Refresh {
  return () => {
    const why = failure.peek();
    return isPaused.peek() || (why !== undefined && isForbidden(why)) ? Promise.resolve(true) : refresh();
  };
}

/** A view's own successful reading also shows that the service is there. */
export function noteHeard(): void {
  heardAt.value = now.peek();
}

function onFrame(frame: FeedFrame): void {
  if (frame.type === 'hello' || frame.type === 'tick') {
    noteServerTime(Date.parse(frame.at));
    isPartial.value = frame.lossy;
  }
  if (frame.type === 'tick') isUnread.value = frame.byState === null;
  // A tick without counts says nothing about the data shown, which is as old as before.
  if (frame.type !== 'tick' || !isUnread.peek()) noteHeard();
  if (frame.type === 'hello') return readOnceMore();
  const isNews = frame.type !== 'tick';
  const untold = [...views].map((view) => (frame.type === 'gap' ? true : (view.take?.(frame) ?? isNews)));
  if (!untold.includes(true)) return;
  writtenAtMs = Date.now() + WRITTEN_AFTER_MS;
  planBy(Math.max(0, readAtMs + BETWEEN_READINGS_MS - Date.now()));
}

/**
 * Reads the views once more after the feed has opened or its `watch` has changed. Other nodes report nothing until they hear that somebody
 * watches here; this reading comes after that, so nothing is missed for good.
 */
function readOnceMore(): void {
  writtenAtMs = Date.now() + WRITTEN_AFTER_MS;
  planBy(WRITTEN_AFTER_MS);
}

function noteOutcome(isHeard: boolean): void {
  if (isHeard) {
    failures = 0;
    retryAt.value = undefined;
    noteHeard();
    planNext();
    return;
  }
  const ms = retryMs(failures);
  failures += 1;
  retryAt.value = now.peek() + ms;
  plan(ms);
}

function planNext(): void {
  const beside = [...views].map(({ besideFeedMs = ASK_BESIDE_FEED_MS }) => besideFeedMs);
  if (readAtMs < writtenAtMs) return plan(Math.max(writtenAtMs, readAtMs + BETWEEN_READINGS_MS) - Date.now());
  plan(isFeedOpen.peek() ? Math.min(ASK_BESIDE_FEED_MS, ...beside) : ASK_EVERY_MS);
}

function planBy(ms: number): void {
  if (timer === undefined || dueAtMs > Date.now() + ms) plan(ms);
}

function plan(ms: number): void {
  clearTimeout(timer);
  dueAtMs = Date.now() + ms;
  timer = setTimeout(() => {
    timer = undefined;
    const rests = hiddenSinceMs !== undefined && Date.now() - hiddenSinceMs > HIDDEN_REST_MS;
    if (views.size > 0 && !rests) void refreshAll();
  }, ms);
}

document.addEventListener('visibilitychange', () => {
  hiddenSinceMs = document.hidden ? Date.now() : undefined;
  if (!document.hidden && timer === undefined && views.size > 0) void refreshAll();
});
