import type { ChartNode } from '../../../protocol/operator/machine.ts';
import type { State } from '../data/shapes.ts';
import { STATE_SHAPES } from '../parts/state-shape.tsx';

/** The four looks of a state are those of a voice session, each a colour and a shape. */
type Tone = State;

/** What is like a voice session that is engaged, idle or stale; `over` is what nothing follows upon. */
const tones: Readonly<Record<string, Tone>> = {
  engaged: 'engaged',
  open: 'engaged',
  active: 'engaged',
  idle: 'idle',
  creating: 'idle',
  closing: 'stale',
  pending: 'idle',
  stale: 'stale',
};

export function toneOf({ name }: Pick<ChartNode, 'name'>): Tone {
  return tones[name] ?? 'ended';
}

/** A shape of 12 by 12. */
export function Mark({ tone, x, y }: { readonly tone: Tone; readonly x: number; readonly y: number }) {
  return (
    <g class="mark" transform={`translate(${x} ${y})`}>
      {STATE_SHAPES[tone]}
    </g>
  );
}
