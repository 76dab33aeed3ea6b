/** The timing of the echo agent's calls, in milliseconds. */
export interface EchoTimes {
  /** How much later the echo is heard. */
  readonly delayMs: number;
  /** A call that is not connected after this time is given up. */
  readonly connectMs: number;
  /** After this long without a sign of life, the browser is considered gone. Chromium sends one about every 2.5 seconds. */
  readonly lostMs: number;
  readonly maxMs: number;
}
