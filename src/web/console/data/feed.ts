/** The socket on which the service reports what happens. It reconnects by itself, and closes while nobody sees the page. */
import { signal } from '@preact/signals';
import type {
  FEED_PATH,
  FEED_SUBPROTOCOL,
  FeedFilterSent,
  FeedFrame,
  FeedTopic,
} from '../../../protocol/operator/feed.ts';
import { MINUTE_MS, SECOND_MS } from './durations.ts';

const PATH: typeof FEED_PATH = '/api/operator/feed';
const SUBPROTOCOL: typeof FEED_SUBPROTOCOL = 'switchboard.operator.v1';
const MAX_RETRY_MS = 30 * SECOND_MS;
/** A page that has been hidden this long makes no requests. */
export const HIDDEN_REST_MS = MINUTE_MS;

/** What a view wants to hear of. */
export interface Watch {
  readonly topics: readonly FeedTopic[];
  readonly filter?: FeedFilterSent;
  /** A session whose events are wanted too. */
  readonly ref?: string;
}

interface Listener {
  readonly onFrame: (frame: FeedFrame) => void;
  /** The socket is gone, and what happens until the next one is open is missed. */
  readonly onLost: () => void;
}

/** Milliseconds to wait after this many failures: doubles each time, with jitter. */
export function retryMs(failed: number): number {
  return Math.min(MAX_RETRY_MS, SECOND_MS * 2 ** failed) * (0.75 + Math.random() / 2);
}

/** Whether the service reports what happens over the socket. */
export const isFeedOpen = signal(false);

let socket: WebSocket | undefined;
let wanted: Watch | undefined;
let listener: Listener | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let rest: ReturnType<typeof setTimeout> | undefined;
let failures = 0;

/** Listens from now on for what `watch` asks for. */
export function listen(watch: Watch, to: Listener): void {
  wanted = watch;
  listener = to;
  if (isFeedOpen.peek()) tellWatch();
  else if (retry === undefined) connect();
}

function connect(): void {
  retry = undefined;
  if (socket !== undefined || document.hidden) return;
  const opened = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${PATH}`, SUBPROTOCOL);
  socket = opened;
  opened.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(String(data)) as FeedFrame;
    if (frame.type === 'hello') {
      failures = 0;
      isFeedOpen.value = true;
      tellWatch();
    }
    listener?.onFrame(frame);
  });
  opened.addEventListener('close', () => {
    socket = undefined;
    const wasOpen = isFeedOpen.peek();
    isFeedOpen.value = false;
    retry = setTimeout(connect, retryMs(failures));
    failures += 1;
    if (wasOpen) listener?.onLost();
  });
}

function tellWatch(): void {
  if (wanted !== undefined) socket?.send(JSON.stringify({ type: 'watch', ...wanted }));
}

document.addEventListener('visibilitychange', () => {
  clearTimeout(rest);
  if (document.hidden) rest = setTimeout(() => socket?.close(), HIDDEN_REST_MS);
  else if (wanted !== undefined && socket === undefined) {
    clearTimeout(retry);
    connect();
  }
});
