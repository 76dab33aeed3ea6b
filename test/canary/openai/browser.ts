/** Plays the visitor's browser: one peer for one call. */
export interface Browser {
  /** An offer with all its candidates. */
  readonly offerSdp: string;
  /** @returns whether the media connection came up in time */
  accept(answerSdp: string): Promise<boolean>;
  /** Sends an event on the data channel. */
  say(event: object): void;
  /** Lets the provider hear the visitor for this many milliseconds. */
  speak(ms: number): Promise<void>;
  /** Goes away, as a closed tab does. */
  close(): Promise<void>;
}
