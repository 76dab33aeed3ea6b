import type { Clock } from '../../src/kernel/time.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Noon in UTC: the start of a minute and of an hour, far from both ends of a day. */
export const NOON = Date.UTC(2030, 0, 2, 12);

/** A clock that tests advance by hand. */
export class ManualClock implements Clock {
  #now: number;

  constructor(now = NOON) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  set(now: number): void {
    this.#now = now;
  }
}
