import type { VNode } from 'preact';
import type { State } from '../data/shapes.ts';

/** The shape of each state, of 12 by 12: what its colour says, for whoever does not see that. */
export const STATE_SHAPES: Readonly<Record<State, VNode>> = {
  engaged: <circle cx="6" cy="6" r="5" />,
  idle: (
    <>
      <circle class="hollow" cx="6" cy="6" r="4.25" />
      <path d="M6 1a5 5 0 0 0 0 10z" />
    </>
  ),
  stale: <circle class="hollow" cx="6" cy="6" r="4.25" />,
  ended: <rect x="1.5" y="1.5" width="9" height="9" rx="1" />,
};
