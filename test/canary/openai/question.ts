import type { Lab } from './lab.ts';

/** One thing that the documentation leaves open. */
export interface Question {
  readonly name: string;
  readonly asks: string;
  /** The most that asking may cost. */
  readonly microDollars: number;
  /** @returns the answer in our own words and the provider's codes; the caller ends the calls */
  ask(lab: Lab): Promise<string>;
}
