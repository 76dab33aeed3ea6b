/** Time as an argument: production reads the system, tests turn it by hand. */
export interface Clock {
  /** The present time in milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = Date;

/** What is told of clocks that did not go on as time did. */
export interface ClockStep {
  /** Whose clock: a store's that was set, or this node's that stood still, slept, or began with another time than the others. */
  readonly of: 'registry' | 'database' | 'node';
  /** How far the store's clock went; or by how much this node's time was set. */
  readonly ms: number;
}
