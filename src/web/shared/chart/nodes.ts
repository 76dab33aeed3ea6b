import type { ChartNode, Chart } from '../../../protocol/operator/machine.ts';
import type { SessionState } from '../../../protocol/session.ts';

/** Every state looks like one of the four states of a voice session, each of which has a colour and a shape. */
export type Tone = SessionState;

/** The states that look like an engaged, idle or stale session. All other states look ended. */
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

/** The node of the atomic state with this name. */
export function nodeNamed({ nodes }: Chart, state: string): ChartNode | undefined {
  return nodes.find(({ name, kind }) => name === state && kind !== 'group');
}
