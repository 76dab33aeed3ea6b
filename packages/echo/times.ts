/** The times of an echo's calls, in milliseconds. */
export interface EchoTimes {
  /** How late the echo is. */
  readonly delayMs: number;
  /** A call that is not connected by then never will be. */
  readonly connectMs: number;
  /** Without a sign of life for so long the browser is gone. Chromium gives one about every 2.5 seconds. */
  readonly lostMs: number;
  readonly maxMs: number;
}
