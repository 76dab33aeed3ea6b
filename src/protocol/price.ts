import { z } from 'zod';
import { integer, seconds, string } from './fields.ts';

/** Micro-dollars per million tokens, or per minute. */
const rate = integer('micro-dollars', 4_000_000).min(0).max(1_000_000_000_000);

/** What a model costs, by billing class. Input classes exclude cached tokens. */
export const tokenRates = z.strictObject({
  textIn: rate.describe('Text that the model reads, except what is cached'),
  textCached: rate.describe('Text that the model reads from its cache'),
  textOut: rate.describe('Text that the model writes'),
  audioIn: rate.describe('Audio that the model hears, except what is cached'),
  audioCached: rate.describe('Audio that the model hears from its cache'),
  audioOut: rate.describe('Audio that the model speaks'),
  imageIn: rate.describe('Images that the model sees, except what is cached'),
  imageCached: rate.describe('Images that the model sees from its cache'),
});

/** A model's price (docs/operations.md, Prices): for tokens, for time, or both. */
export const modelPrice = z
  .strictObject({
    per1M: tokenRates.partial().optional().describe('Prices of a million tokens, by class'),
    perMinute: rate.optional().describe('The price of a connected minute'),
    minimumSec: seconds
      .max(86_400)
      .optional()
      .describe('The shortest connected time that a call is charged for, from its start'),
    estimatePerMinute: rate.describe('The estimated cost of a minute, for amounts held back and for gaps'),
    source: string('The source of the price', 'https://openai.com/api/pricing').optional(),
    read: z.iso
      .date()
      .optional()
      .meta({ description: 'The day on which the price was read', examples: ['2026-11-01'] }),
    shutdown: z.iso
      .date()
      .optional()
      .meta({ description: 'The day on which the provider switches the model off', examples: ['2027-05-07'] }),
  })
  .refine(({ per1M, perMinute }) => per1M !== undefined || perMinute !== undefined, 'needs per1M or perMinute')
  .refine(({ perMinute, minimumSec }) => minimumSec === undefined || perMinute !== undefined, {
    path: ['minimumSec'],
    message: 'is of connected time, so that it needs perMinute',
  });

export type ModelPrice = Readonly<z.infer<typeof modelPrice>>;
export type TokenClass = keyof z.infer<typeof tokenRates>;
/** In the order in which the ledger stores them. */
export const TOKEN_CLASSES = Object.keys(tokenRates.shape) as readonly TokenClass[];

export type TokenClasses = Readonly<Record<TokenClass, number>>;

/** The suffix with which providers pin one release of a model. */
const SNAPSHOT_DATE = /-\d{4}-\d{2}-\d{2}$/;

/** The model's name without the date of a snapshot (`name-2026-05-07`). */
export function modelOfSnapshot(name: string): string {
  return name.replace(SNAPSHOT_DATE, '');
}

/** The version of an agent's own price. */
export const OWN_PRICE = 'agent';
/** Follows the version of a list in that of a price, if the model is in no list and the highest rates of the lists are charged. */
export const HIGHEST_RATES = ' dearest';

/** Whether the model of a price with this version is in no list. */
export function isUnpriced(priceVersion: string): boolean {
  return priceVersion.endsWith(HIGHEST_RATES);
}

export const NO_TOKENS = Object.fromEntries(TOKEN_CLASSES.map((name) => [name, 0])) as TokenClasses;

export function sumOf(tokens: TokenClasses): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0);
}
