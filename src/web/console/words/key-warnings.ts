import type { OperatorKey } from '../../../protocol/operator/key.ts';

type KeyWarning = OperatorKey['warnings'][number];

/** Why a key is open, after its name. */
const WORDS: Readonly<Record<KeyWarning, string>> = {
  overrides: 'pages may ask for any model and instructions',
  no_totals: 'nothing bounds what all its visitors use in a day',
  any_agent: 'pages may ask for any agent, or for none',
};

/** `pages may ask for any agent, or for none; …`; what only a later version knows is named as it is. */
export function warningWords(warnings: readonly KeyWarning[]): string {
  return warnings.map((warning) => WORDS[warning] ?? warning).join('; ');
}
