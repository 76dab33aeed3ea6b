import list from '../../config/prices.json' with { type: 'json' };
import { NO_TOKENS, TOKEN_CLASSES, type TokenClasses } from '../../src/protocol/price.ts';
import type { TestCall } from './provider/call.ts';
import type { BilledDay } from './usage-api.ts';

/** The usage of a response, as the provider's events report it. */
interface ToldUsage {
  readonly input_token_details: ToldTokens & { readonly cached_tokens_details?: ToldTokens };
  readonly output_token_details: ToldTokens;
}

interface ToldTokens {
  readonly text_tokens: number;
  readonly audio_tokens: number;
}

const MILLION = 1_000_000;

/** What the stand-in for a provider bills for a call. */
export function billedTokens({ billed }: Pick<TestCall, 'billed'>): TokenClasses {
  return sumOf(billed.map(({ usage }) => classesOf(usage)));
}

/** The model with which a call was opened. */
export function modelOf({ session }: Pick<TestCall, 'session'>): string {
  return String(session['model']);
}

/**
 * What the stand-in for a provider bills for its calls, by day in UTC, at the list prices.
 * @param nameOf the name under which a call's model is billed: its own, or that of a snapshot
 */
export function billedDays(
  calls: readonly TestCall[],
  nameOf: (call: TestCall) => string = modelOf,
): ReadonlyMap<string, BilledDay> {
  const days = new Map<string, { models: Record<string, TokenClasses>; dollars: number }>();
  for (const call of calls)
    for (const { usage, atMs } of call.billed) {
      const name = new Date(atMs).toISOString().slice(0, 10);
      const day = days.get(name) ?? { models: {}, dollars: 0 };
      const tokens = classesOf(usage);
      day.models[nameOf(call)] = sumOf([day.models[nameOf(call)] ?? NO_TOKENS, tokens]);
      day.dollars += dollarsOf(modelOf(call), tokens);
      days.set(name, day);
    }
  return days;
}

/** What tokens of a model cost. @throws Error for a model that is not in the list */
export function dollarsOf(model: string, tokens: TokenClasses): number {
  const price = (list.models as Record<string, { readonly per1M?: Partial<TokenClasses> } | undefined>)[model];
  if (price?.per1M === undefined) throw new Error(`${model} has no price of tokens`);
  const { per1M } = price;
  return TOKEN_CLASSES.reduce((sum, each) => sum + tokens[each] * (per1M[each] ?? 0), 0) / MILLION / MILLION;
}

export function sumOf(all: readonly TokenClasses[]): TokenClasses {
  const sum = { ...NO_TOKENS } as Record<keyof TokenClasses, number>;
  for (const tokens of all) for (const each of TOKEN_CLASSES) sum[each] += tokens[each];
  return sum;
}

/** @param usage undefined for a response that was not billed */
function classesOf(usage: unknown): TokenClasses {
  if (usage === undefined) return NO_TOKENS;
  const { input_token_details: input, output_token_details: output } = usage as ToldUsage;
  const cached = input.cached_tokens_details ?? { text_tokens: 0, audio_tokens: 0 };
  return {
    ...NO_TOKENS,
    textIn: input.text_tokens - cached.text_tokens,
    textCached: cached.text_tokens,
    textOut: output.text_tokens,
    audioIn: input.audio_tokens - cached.audio_tokens,
    audioCached: cached.audio_tokens,
    audioOut: output.audio_tokens,
  };
}
