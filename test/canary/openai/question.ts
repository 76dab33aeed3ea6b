import type { Lab } from './lab.ts';

/** One thing that the documentation leaves open. */
export interface Question {
  readonly name: string;
  readonly asks: string;
  /** What asking may cost at most. */
  readonly microDollars: number;
  /** @returns the answer, in words of ours and codes of the provider's; calls are ended by whoever asks */
  ask(lab: Lab): Promise<string>;
}
