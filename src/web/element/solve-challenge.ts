import type { Language } from '../../protocol/error-translations/languages.ts';
import type { SwitchboardError } from '../widget/api.ts';
import type * as Solver from './challenge/main.ts';

/**
 * Solves the challenge that a create was refused with, using a script that is loaded only for this.
 * @throws the error itself, if it has no challenge or solving fails
 */
export async function solveChallenge(
  error: SwitchboardError,
  home: string,
  baseUrl: string,
  widgetKey: string | undefined,
  language: Language,
): Promise<string> {
  if (!error.challenge) throw error;
  try {
    const { solve } = (await import(/* @vite-ignore */ `${home}switchboard-widget-challenge.mjs`)) as typeof Solver;
    return await solve(error.challenge, { baseUrl, widgetKey, language });
  } catch {
    throw error;
  }
}
