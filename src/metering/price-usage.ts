import type { ModelPrice, TokenClass, TokenClasses } from '../protocol/price.ts';

type Rates = NonNullable<ModelPrice['per1M']>;

const INPUT = ['textIn', 'audioIn', 'imageIn', 'textCached', 'audioCached', 'imageCached'] as const;
const OUTPUT = ['textOut', 'audioOut'] as const;
const CLASSES: readonly TokenClass[] = [...INPUT, ...OUTPUT];

/** The class whose rate is used where a model has none for cached tokens: cached input is still input. */
const UNCACHED: Partial<Record<TokenClass, TokenClass>> = {
  textCached: 'textIn',
  audioCached: 'audioIn',
  imageCached: 'imageIn',
};

/** The input of a response: its context. */
export function inputOf(tokens: TokenClasses): TokenClasses {
  return { ...tokens, textOut: 0, audioOut: 0 };
}

/** Milliseconds of connected time that a call is charged at least. */
export function minimumMs({ minimumSec = 0 }: ModelPrice): number {
  return minimumSec * 1000;
}

/** Whether all counts are whole and none is negative. */
export function isCountable(tokens: TokenClasses): boolean {
  return CLASSES.every((name) => Number.isSafeInteger(tokens[name]) && tokens[name] >= 0);
}

/**
 * What tokens cost, exactly, in millionths of a micro-dollar (docs/contract.md, section 5.12). A class without a rate costs the highest rate of its
 * direction, never nothing.
 * @param dearest the highest known rates, for a model that has none in a direction
 */
export function priceTokens(tokens: TokenClasses, { per1M = {} }: ModelPrice, dearest: ModelPrice): bigint {
  return CLASSES.reduce((sum, name) => {
    const count = tokens[name];
    return count === 0 ? sum : sum + BigInt(count) * BigInt(rateOf(name, per1M, dearest.per1M ?? {}));
  }, 0n);
}

/** Micro-dollars of a million tokens of output, at the higher of its rates; undefined for a model that is priced by time alone. */
export function outputRate({ per1M }: ModelPrice, dearest: ModelPrice): number | undefined {
  if (per1M === undefined) return undefined;
  return Math.max(...OUTPUT.map((name) => rateOf(name, per1M, dearest.per1M ?? {})));
}

function rateOf(name: TokenClass, rates: Rates, dearest: Rates): number {
  const own = rates[name] ?? rates[UNCACHED[name] ?? name];
  if (own !== undefined) return own;
  const direction: readonly TokenClass[] = name === 'textOut' || name === 'audioOut' ? OUTPUT : INPUT;
  const others = direction.flatMap((other) => rates[other] ?? []);
  return others.length > 0 ? Math.max(...others) : (dearest[name] ?? 0);
}
