/** Time as an argument: production reads the system, tests turn it by hand. */
export interface Clock {
  /** The present time in milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = Date;

/** Reported when a clock did not advance as time did. */
export interface ClockStep {
  /** Whose clock: a store's, which was set; or this node's, which stood still, slept, or began with another time than the others. */
  readonly of: 'registry' | 'database' | 'node';
  /** How far the store's clock jumped, or by how much this node's time was set. */
  readonly ms: number;
}
