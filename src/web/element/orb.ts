import type { Levels } from '../widget/api.ts';
import { make, part } from './dom.ts';

/** Speech is rarely louder than this. */
const LOUD = 0.3;

export interface Orb {
  readonly element: HTMLElement;
  readonly show: (levels: Levels) => void;
}

/** The orb: its ball moves with the agent's voice, the ring around it with the visitor's. The style sheet respects reduced motion. */
export function createOrb(): Orb {
  const ball = part('i', 'ball', make('i'), make('i'));
  const element = part('div', 'orb', part('i', 'ring'), part('i', 'glow'), ball);
  element.ariaHidden = 'true';
  const set = (name: string, level: number): void =>
    // The square root, because we hear ratios: half as loud must not look half as big.
    element.style.setProperty(name, Math.min(1, Math.sqrt(level / LOUD)).toFixed(3));
  return {
    element,
    show({ visitor, agent }) {
      set('--visitor', visitor);
      set('--agent', agent);
    },
  };
}
