import { STATE_SHAPES } from '../parts/state-shape.tsx';
import type { Tone } from '../../shared/chart/tones.ts';

/** A shape of 12 by 12. */
export function Mark({ tone, x, y }: { readonly tone: Tone; readonly x: number; readonly y: number }) {
  return (
    <g class="mark" transform={`translate(${x} ${y})`}>
      {STATE_SHAPES[tone]}
    </g>
  );
}
