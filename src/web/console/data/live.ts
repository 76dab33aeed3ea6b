/**
 * Tells views when to read again, and how fresh is what they show. The service's feed tells what changed: what a view can take from that
 * needs no reading. While there is no feed, the service is asked every five seconds. A hidden page rests after a minute, and asks as soon as
 * it is seen again.
 */
import { computed, signal } from '@preact/signals';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { HIDDEN_REST_MS, isFeedOpen, listen, retryMs, type Watch } from './feed.ts';
import { noteServerTime, now } from './server-time.ts';

const SECOND = 1000;
const ASK_EVERY_MS = 5 * SECOND;
/** With a feed too: it tells nothing of heartbeats, and a login lives by being used. */
const ASK_BESIDE_FEED_MS = 30 * SECOND;
/** What the feed does not tell of is asked for as if there were none. */
export const UNTOLD_MS = ASK_EVERY_MS;
const STALE_AFTER_MS = 6 * SECOND;
const AWAY_AFTER_MS = 15 * SECOND;
/** However much happens, views read no more often. */
const BETWEEN_READINGS_MS = 3 * SECOND;
/** What happened is in the database by then, and other nodes have heard what is watched here. */
const WRITTEN_AFTER_MS = 3 * SECOND;

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
/** Whether the service is there and cannot read what it keeps. */
export const isUnread = signal(false);

export type Freshness = 'live' | 'stale' | 'away';

export const freshness = computed<Freshness>(() => {
  if (!isFeedOpen.value && retryAt.value === undefined) return 'live';
  const silentMs = now.value - heardAt.value - (isFeedOpen.value ? 0 : ASK_EVERY_MS);
  if (silentMs < STALE_AFTER_MS) return 'live';
  return silentMs < AWAY_AFTER_MS ? 'stale' : 'away';
});

/** What a view shows, and how it follows. */
export interface View {
  readonly refresh: Refresh;
  /** Takes in what the feed told. @returns whether it must be read again to show that; without it whatever changed must be */
  readonly take?: ((frame: FeedFrame) => boolean) | undefined;
  /** How often it is read beside the feed. */
  readonly besideFeedMs?: number | undefined;
}

const views = new Set<View>();
let timer: ReturnType<typeof setTimeout> | undefined;
let dueAtMs = Infinity;
let readAtMs = -Infinity;
/** What was told until now is in the database by then. */
let writtenAtMs = -Infinity;
let failures = 0;
let hiddenSinceMs: number | undefined;

/**
 * Reads a view whenever something may have changed that it cannot take from the feed, until the returned function is called.
 * @param watch what the feed should tell of: that of the view that came last holds
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

/** What a view read by itself tells of the service, too. */
export function noteHeard(): void {
  heardAt.value = now.peek();
}

function onFrame(frame: FeedFrame): void {
  if (frame.type === 'hello' || frame.type === 'tick') {
    noteServerTime(Date.parse(frame.at));
    isPartial.value = frame.lossy;
  }
  if (frame.type === 'tick') isUnread.value = frame.byState === null;
  // A tick without the counts tells nothing of what is shown: that is as of before.
  if (frame.type !== 'tick' || !isUnread.peek()) noteHeard();
  if (frame.type === 'hello') return readOnceMore();
  const isNews = frame.type !== 'tick';
  const untold = [...views].map((view) => (frame.type === 'gap' ? true : (view.take?.(frame) ?? isNews)));
  if (!untold.includes(true)) return;
  writtenAtMs = Date.now() + WRITTEN_AFTER_MS;
  planBy(Math.max(0, readAtMs + BETWEEN_READINGS_MS - Date.now()));
}

/**
 * What other nodes do before they hear that somebody watches here is told to nobody, and a view is read before that: it is read once more
 * when the feed has said hello, or was asked for something else, and they have heard it. Nothing is missed for good then.
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
