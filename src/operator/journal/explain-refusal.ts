import { ERROR_CODES, type Code } from '../../protocol/error-codes.ts';
import type { Layer } from '../../protocol/refusal-why.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import type { NewEntry } from '../../stores/journal/contract.ts';

/** A refusal in one sentence, and what to turn. */
export interface Explained {
  readonly sentence: string;
  readonly lever: string | null;
}

/** Which part of the way said no. */
export function layerOf({ code, why }: Pick<Refusal, 'code' | 'why'>): Layer {
  return why.layer ?? ERROR_CODES[code].layer;
}

/** Why a request was refused: one sentence with the numbers that are known, and the variable or the field of a key that decides. */
export function explainRefusal(refusal: NewEntry<'refusal'>): Explained {
  const { code, detail } = refusal;
  const row = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as Code] : undefined;
  // What the provider limits no variable decides.
  const isProviders = code === 'RATE_LIMIT_EXCEEDED' && detail.layer === 'mint';
  const lever = detail.lever ?? (isProviders ? undefined : row?.lever) ?? null;
  const { explanation = `The request was refused with ${code}` } = row ?? {};
  const said = typeof explanation === 'string' ? explanation : explanation(refusal);
  const { retryAfter } = detail;
  const wait = retryAfter === undefined ? '' : `; the caller was told to wait ${retryAfter} s`;
  return { sentence: `${said}${lever === null ? '' : ` (${lever})`}${wait}.`, lever };
}
