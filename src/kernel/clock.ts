/** Time as an argument: production reads the system, tests turn it by hand. */
export interface Clock {
  /** The present time in milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = Date;
