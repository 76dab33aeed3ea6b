import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCountable, priceTokens, readPrices } from '../../../src/metering/prices.ts';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import { chargeOf, picoOfTime } from '../../../src/stores/ledger/contract.ts';

const prices = readPrices(undefined);
const price = (model: string) => prices.priceOf(model, null).price;

describe('The price of usage', () => {
  test('is that of each class at its own rate, exactly', () => {
    const tokens = {
      ...NO_TOKENS,
      textIn: 119,
      textCached: 64,
      textOut: 30,
      audioIn: 7,
      audioCached: 3,
      audioOut: 101,
    };
    const pico = priceTokens(tokens, price('gpt-realtime-2.1'), prices.dearest);
    // 119 x 4 + 64 x 0.4 + 30 x 24 + 7 x 32 + 3 x 0.4 + 101 x 64 micro-dollars
    expect(pico).toBe(7_910_800_000n);
    expect(chargeOf(pico)).toBe(7911);
  });

  test('of a class without a rate is the dearest of its direction, and what was cached is input all the same', () => {
    const gemini = price('gemini-3.8-live');
    const one = (tokens: object) => priceTokens({ ...NO_TOKENS, ...tokens }, gemini, prices.dearest);
    expect(one({ textCached: 1 })).toBe(750_000n);
    expect(one({ audioCached: 1 })).toBe(3_000_000n);
    expect(one({ imageIn: 1, imageCached: 1 })).toBe(6_000_000n);
    expect(priceTokens({ ...NO_TOKENS, audioOut: 1 }, price('gpt-live-1'), prices.dearest)).toBe(64_000_000n);
  });

  test('of time is rounded up to the micro-dollar', () => {
    expect([0, 1, 1200, 60_000, 90_001].map((ms) => chargeOf(picoOfTime(ms, 50_000)))).toEqual([
      0, 1, 1000, 50_000, 75_001,
    ]);
  });

  test('adds up beyond what numbers can count exactly', () => {
    const most = { per1M: { textIn: 1e12 }, estimatePerMinute: 0 };
    expect(priceTokens({ ...NO_TOKENS, textIn: 100_000_001 }, most, prices.dearest)).toBe(100_000_001_000_000_000_000n);
  });

  test('is never nothing for tokens of whatever class and model', () => {
    const classes = Object.keys(NO_TOKENS) as (keyof typeof NO_TOKENS)[];
    const models = ['gpt-realtime-2.1', 'gpt-live-1', 'gemini-3.8-live', 'gpt-4o-transcribe', 'whisper-1', 'unknown'];
    fc.assert(
      fc.property(
        fc.constantFrom(...classes),
        fc.constantFrom(...models),
        fc.integer({ min: 1, max: 1e8 }),
        (name, model, n) => {
          expect(priceTokens({ ...NO_TOKENS, [name]: n }, price(model), prices.dearest)).toBeGreaterThan(0n);
        },
      ),
    );
  });

  test('needs tokens that can be: whole and not negative', () => {
    expect([-1, 0.5, NaN, Infinity, 0, 7].map((textIn) => isCountable({ ...NO_TOKENS, textIn }))).toEqual([
      false,
      false,
      false,
      false,
      true,
      true,
    ]);
  });
});
