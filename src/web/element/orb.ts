import type { Levels } from '../widget/api.ts';
import { make, part } from './dom.ts';

/** Speech is seldom louder. */
const LOUD = 0.3;

export interface Orb {
  readonly element: HTMLElement;
  readonly show: (levels: Levels) => void;
}

/** Moves with the voices: its ball with the agent's, the ring around it with the visitor's. The style sheet keeps it still for those who want that. */
export function createOrb(): Orb {
  const ball = part('i', 'ball', make('i'), make('i'));
  const element = part('div', 'orb', part('i', 'ring'), part('i', 'glow'), ball);
  element.ariaHidden = 'true';
  const set = (name: string, level: number): void =>
    // Ears hear proportions: what is half as loud is not half as visible.
    element.style.setProperty(name, Math.min(1, Math.sqrt(level / LOUD)).toFixed(3));
  return {
    element,
    show({ visitor, agent }) {
      set('--visitor', visitor);
      set('--agent', agent);
    },
  };
}
