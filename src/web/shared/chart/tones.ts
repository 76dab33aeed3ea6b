import type { ChartNode } from '../../../protocol/operator/machine.ts';
import type { SessionState } from '../../../protocol/session.ts';

/** The four looks of a state are those of a voice session, each a colour and a shape. */
export type Tone = SessionState;

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
