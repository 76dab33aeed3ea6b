import type { OperatorKey } from '../../../protocol/operator/key.ts';

type KeyWarning = OperatorKey['warnings'][number];

/** Why a key is open, as words that follow its name. */
const WORDS: Readonly<Record<KeyWarning, string>> = {
  overrides: 'pages may ask for any model and instructions',
  no_totals: 'nothing bounds what all its visitors use in a day',
  any_agent: 'pages may ask for any agent, or for none',
};

/** `pages may ask for any agent, or for none; …`. Warnings that only a later version knows are shown by their names. */
export function warningWords(warnings: readonly KeyWarning[]): string {
  return warnings.map((warning) => WORDS[warning] ?? warning).join('; ');
}
