import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from '../../config/config.ts';
import shipped from '../../config/prices.json' with { type: 'json' };
import {
  HIGHEST_RATES,
  modelOfSnapshot,
  modelPrice,
  OWN_PRICE,
  TOKEN_CLASSES,
  type ModelPrice,
  type TokenClass,
  type TokenClasses,
} from '../protocol/price.ts';

const priceList = z.strictObject({ version: z.string().min(1).max(64), models: z.record(z.string(), modelPrice) });

type PriceList = z.infer<typeof priceList>;

/** A price, and the version of the list that it comes from; `OWN_PRICE` for an agent's own. */
export interface PricedModel {
  readonly price: ModelPrice;
  readonly version: string;
  /**
   * The name in the list: the model's, or that of the model it is a snapshot of. Null for a model that no list has: it costs the highest known rates,
   * because unpriced must not mean free.
   */
  readonly listedAs: string | null;
}

// Prices are exact; the charge of a call is rounded up once, by `chargeOf` in src/stores/ledger/contract.ts.

/** The prices of models: config/prices.json, overridden by PRICES_FILE model by model (docs/operations.md, Prices). It never changes. */
export class Prices {
  /** The highest rate in the lists for each class, and for time. */
  readonly dearest: ModelPrice;
  readonly #known: ReadonlyMap<string, PricedModel>;
  readonly #unknown: PricedModel;

  /** @param lists later ones win */
  constructor(lists: readonly PriceList[]) {
    const known = lists.flatMap(({ version, models }) =>
      Object.entries(models).map(([model, price]) => [model, { price, version, listedAs: model }] as const),
    );
    this.#known = new Map(known);
    this.dearest = dearestOf([...this.#known.values()].map(({ price }) => price));
    this.#unknown = { price: this.dearest, version: `${lists[0]?.version ?? ''}${HIGHEST_RATES}`, listedAs: null };
  }

  /** The lists' price of a model. */
  find(model: string): ModelPrice | undefined {
    return this.#find(model)?.price;
  }

  /** @param own an agent's own price of the model, which wins */
  priceOf(model: string, own: ModelPrice | null): PricedModel {
    if (own !== null) return { price: own, version: OWN_PRICE, listedAs: model };
    return this.#find(model) ?? this.#unknown;
  }

  /** A dated snapshot (`name-2026-05-07`) without a price of its own costs as much as its model. */
  #find(model: string): PricedModel | undefined {
    return this.#known.get(model) ?? this.#known.get(modelOfSnapshot(model));
  }
}

/** @throws ConfigError that says what is wrong with PRICES_FILE */
export function readPrices(file: string | undefined): Prices {
  const lists = [priceList.parse(shipped)];
  if (file !== undefined) lists.push(readList(file));
  return new Prices(lists);
}

function readList(file: string): PriceList {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw wrong(`${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  const { data, error } = priceList.safeParse(content);
  if (data === undefined) throw wrong(`${file} is no list of prices:\n${z.prettifyError(error)}`);
  return data;
}

function wrong(message: string): ConfigError {
  return new ConfigError([{ name: 'PRICES_FILE', message }]);
}

function dearestOf(prices: readonly ModelPrice[]): ModelPrice {
  const highest = (read: (price: ModelPrice) => number | undefined): number =>
    Math.max(...prices.map((price) => read(price) ?? 0));
  return {
    per1M: Object.fromEntries(TOKEN_CLASSES.map((name) => [name, highest(({ per1M }) => per1M?.[name])])),
    perMinute: highest(({ perMinute }) => perMinute),
    estimatePerMinute: highest(({ estimatePerMinute }) => estimatePerMinute),
  };
}

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
