import { END_LABELS } from '../../../protocol/operator/end-labels.ts';

/** A reason that this version does not know is shown by its name. */
const REASONS: Readonly<Record<string, string>> = END_LABELS;

export const REASON_NAMES = Object.keys(REASONS);

export function reasonWords(reason: string | null): string {
  return reason === null ? '' : (REASONS[reason] ?? reason.replaceAll('_', ' '));
}
