import type { State } from '../data/shapes.ts';

/** What each state means, for people who do not know it by heart. */
export const STATES: Readonly<Record<State, string>> = {
  engaged: 'somebody talks, or did a moment ago',
  idle: 'silent for longer than it may be',
  stale: 'silent for so long that it will be given up',
  ended: 'over',
};

export const STATE_NAMES = Object.keys(STATES) as readonly State[];
