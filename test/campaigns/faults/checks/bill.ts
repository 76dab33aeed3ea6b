import { priceTokens, readPrices } from '../../../../src/metering/prices.ts';
import { readTokens } from '../../../../src/upstream/realtime-usage.ts';
import type { TestCall } from '../../../support/provider/call.ts';
import { CALL_MODEL } from '../settings.ts';

const prices = readPrices(undefined);

/** A response that the provider bills. */
export interface Billed {
  readonly id: string;
  readonly atMs: number;
  readonly tokens: number;
  readonly pico: bigint;
}

export function billOf({ billed }: TestCall): Billed[] {
  const { price } = prices.priceOf(CALL_MODEL, null);
  return billed.map(({ id, atMs, usage }) => {
    const read = readTokens(usage);
    if (read === undefined) throw new Error('the stand-in bills what cannot be');
    const tokens = Object.values(read).reduce((sum, count) => sum + count, 0);
    return { id, atMs, tokens, pico: priceTokens(read, price, prices.dearest) };
  });
}

export function sumOf(parts: readonly Pick<Billed, 'tokens' | 'pico'>[]): { tokens: number; pico: bigint } {
  return parts.reduce((sum, { tokens, pico }) => ({ tokens: sum.tokens + tokens, pico: sum.pico + pico }), {
    tokens: 0,
    pico: 0n,
  });
}
