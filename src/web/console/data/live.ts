/**
 * Tells views when to read again, and how fresh is what they show. The service's feed says when something changed; while there is none, it is
 * asked every five seconds. A hidden page rests after a minute, and asks as soon as it is seen again.
 */
import { computed, signal } from '@preact/signals';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { isFeedOpen, listen, type Watch } from './feed.ts';
import { noteServerTime, now } from './server-time.ts';

const SECOND = 1000;
const ASK_EVERY_MS = 5 * SECOND;
/** With a feed too: it tells nothing of heartbeats, and a login lives by being used. */
const ASK_BESIDE_FEED_MS = 30 * SECOND;
/** What the feed does not tell of is asked for as if there were none. */
export const UNTOLD_MS = ASK_EVERY_MS;
const STALE_AFTER_MS = 6 * SECOND;
const AWAY_AFTER_MS = 15 * SECOND;
const HIDDEN_REST_MS = 60 * SECOND;
const LONGEST_RETRY_MS = 30 * SECOND;
/** However much happens, views read no more often. */
const BETWEEN_READINGS_MS = SECOND;
/** What is told is written within about a second: it is read once more then. */
const WRITTEN_AFTER_MS = 2 * SECOND;

/** Reads again what a view shows. @returns whether the service answered */
export type Refresh = () => Promise<boolean>;

/** By hand only: it outlives every navigation, and what comes meanwhile waits. */
export const isPaused = signal(false);
/** When the service was last heard, in its own time. */
export const heardAt = signal(now.value);
/** When it is asked again while it does not answer. */
export const retryAt = signal<number | undefined>(undefined);
/** How many changes wait, while it is paused or because a list does not move by itself. */
export const waiting = signal(0);
/** Whether the node that tells is cut off from the others. */
export const isPartial = signal(false);

export type Freshness = 'live' | 'stale' | 'away';

export const freshness = computed<Freshness>(() => {
  if (!isFeedOpen.value && retryAt.value === undefined) return 'live';
  const silentMs = now.value - heardAt.value - (isFeedOpen.value ? 0 : ASK_EVERY_MS);
  if (silentMs < STALE_AFTER_MS) return 'live';
  return silentMs < AWAY_AFTER_MS ? 'stale' : 'away';
});

/** With how often each is called beside the feed. */
const refreshes = new Map<Refresh, number>();
let timer: ReturnType<typeof setTimeout> | undefined;
let dueAtMs = Infinity;
let readAtMs = -Infinity;
let isUnwritten = false;
let failures = 0;
let hiddenSinceMs: number | undefined;

/**
 * Calls `refresh` whenever something may have changed, until the returned function is called.
 * @param watch what the feed should tell of: that of the view that came last holds
 */
export function keepFresh(refresh: Refresh, watch: Watch, besideFeedMs = ASK_BESIDE_FEED_MS): () => void {
  refreshes.set(refresh, besideFeedMs);
  listen(watch, { onFrame, onLost: () => plan(0) });
  if (timer === undefined) planNext();
  return () => void refreshes.delete(refresh);
}

/** Reads everything that is shown again, now. */
export async function refreshAll(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  readAtMs = Date.now();
  const outcomes = await Promise.all([...refreshes.keys()].map((refresh) => refresh()));
  noteOutcome(outcomes.every(Boolean));
}

/** What a view read by itself tells of the service, too. */
export function noteHeard(): void {
  heardAt.value = now.peek();
}

function onFrame(frame: FeedFrame): void {
  if (frame.type === 'hello' || frame.type === 'tick') {
    noteServerTime(Date.parse(frame.at));
    isPartial.value = frame.lossy;
  }
  noteHeard();
  if (frame.type === 'hello' || frame.type === 'tick') return;
  isUnwritten = true;
  const ms = Math.max(0, readAtMs + BETWEEN_READINGS_MS - Date.now());
  if (timer === undefined || dueAtMs > Date.now() + ms) plan(ms);
}

function noteOutcome(isHeard: boolean): void {
  if (isHeard) {
    failures = 0;
    retryAt.value = undefined;
    noteHeard();
    planNext();
    return;
  }
  const ms = Math.min(LONGEST_RETRY_MS, SECOND * 2 ** failures) * (0.75 + Math.random() / 2);
  failures += 1;
  retryAt.value = now.peek() + ms;
  plan(ms);
}

function planNext(): void {
  const ms = isUnwritten ? WRITTEN_AFTER_MS : isFeedOpen.peek() ? Math.min(...refreshes.values()) : ASK_EVERY_MS;
  isUnwritten = false;
  plan(ms);
}

function plan(ms: number): void {
  clearTimeout(timer);
  dueAtMs = Date.now() + ms;
  timer = setTimeout(() => {
    timer = undefined;
    const rests = hiddenSinceMs !== undefined && Date.now() - hiddenSinceMs > HIDDEN_REST_MS;
    if (refreshes.size > 0 && !rests) void refreshAll();
  }, ms);
}

document.addEventListener('visibilitychange', () => {
  hiddenSinceMs = document.hidden ? Date.now() : undefined;
  if (!document.hidden && timer === undefined && refreshes.size > 0) void refreshAll();
});
