import type { State } from '../data/shapes.ts';
import { END_LABELS } from '../../../protocol/operator/end-labels.ts';

/** What each state means, for people who do not know it by heart. */
export const STATES: Readonly<Record<State, string>> = {
  engaged: 'somebody talks, or did a moment ago',
  idle: 'silent for longer than it may be',
  stale: 'silent for so long that it will be given up',
  ended: 'over',
};

export const STATE_NAMES = Object.keys(STATES) as readonly State[];

/** A reason that this version does not know is shown by its name. */
const REASONS: Readonly<Record<string, string>> = END_LABELS;

export const REASON_NAMES = Object.keys(REASONS);

export function reasonWords(reason: string | null): string {
  return reason === null ? '' : (REASONS[reason] ?? reason.replaceAll('_', ' '));
}
