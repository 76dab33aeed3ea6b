import type { VNode } from 'preact';
import type { ChartNode } from '../../../protocol/operator/machine.ts';

/** The four looks of a state, each a colour and a shape. */
type Tone = 'engaged' | 'idle' | 'stale' | 'ended';

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

const marks: Readonly<Record<Tone, VNode>> = {
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

/** A shape of 12 by 12. */
export function Mark({ tone, x, y }: { readonly tone: Tone; readonly x: number; readonly y: number }) {
  return (
    <g class="mark" transform={`translate(${x} ${y})`}>
      {marks[tone]}
    </g>
  );
}
