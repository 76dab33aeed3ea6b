import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, type Config } from '../../../config/config.ts';
import { findShutdowns, requirePrices } from '../../../src/metering/check-prices.ts';
import shipped from '../../../config/prices.json' with { type: 'json' };
import { priceTokens, readPrices } from '../../../src/metering/prices.ts';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import { chargeOf } from '../../../src/stores/ledger/contract.ts';
import type { Agent, Tenant } from '../../../src/stores/tenants/contract.ts';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'prices-'))));
afterAll(() => rm(folder, { recursive: true }));

async function listOf(content: unknown): Promise<string> {
  const file = join(folder, 'prices.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function tenantWith(...agents: readonly Agent[]): Tenant {
  return { id: 'acme', name: 'Acme', admins: null, keys: [], agents };
}

const byTime = { perMinute: 7, estimatePerMinute: 7 };

describe('The list of prices', () => {
  test('that is shipped knows the default model, with where and when each price was read', () => {
    const prices = readPrices(undefined);
    const { price, listedAs } = prices.priceOf('gpt-realtime-2.1', null);
    expect(listedAs).toBe('gpt-realtime-2.1');
    expect(price).toMatchObject({ per1M: { textIn: 4_000_000, audioOut: 64_000_000 }, estimatePerMinute: 300_000 });
    expect([price.source, price.read]).not.toContain(undefined);
  });

  test('gives way to PRICES_FILE model by model, and both to an agent', async () => {
    const prices = readPrices(await listOf({ version: 'ours', models: { 'gpt-realtime-2.1': byTime, own: byTime } }));
    expect(prices.priceOf('gpt-realtime-2.1', null)).toEqual({
      price: byTime,
      version: 'ours',
      listedAs: 'gpt-realtime-2.1',
    });
    expect(prices.priceOf('own', null).version).toBe('ours');
    expect(prices.priceOf('gpt-realtime-1.5', null).version).not.toBe('ours');
    const price = { ...byTime, perMinute: 9 };
    expect(prices.priceOf('own', price)).toEqual({ price, version: 'agent', listedAs: 'own' });
  });

  test('prices a model that it has not at the dearest rates that it knows, never at nothing', async () => {
    const file = await listOf({
      version: 'ours',
      models: { dear: { per1M: { textIn: 9e9 }, estimatePerMinute: 8e9 } },
    });
    const { price, version, listedAs } = readPrices(file).priceOf('nobody-knows', null);
    expect([listedAs, version]).toEqual([null, expect.stringMatching(/ dearest$/)]);
    expect(price).toMatchObject({
      per1M: { textIn: 9e9, audioOut: 64_000_000 },
      perMinute: 50_000,
      estimatePerMinute: 8e9,
    });
    expect(Object.values(price.per1M ?? {}).every((rate) => rate > 0)).toBe(true);
  });

  test('prices a dated snapshot as its model, unless the snapshot has a price of its own', async () => {
    const models = { 'gpt-realtime-2.1': byTime, 'gpt-realtime-2.1-2026-05-07': { ...byTime, perMinute: 9 } };
    const prices = readPrices(await listOf({ version: 'ours', models }));
    expect(prices.priceOf('gpt-realtime-2.1-2026-09-10', null)).toMatchObject({
      price: byTime,
      listedAs: 'gpt-realtime-2.1',
    });
    expect(prices.priceOf('gpt-realtime-2.1-2026-05-07', null).price.perMinute).toBe(9);
    expect(prices.find('gpt-4o-mini-transcribe-2025-12-15')).toEqual(prices.find('gpt-4o-mini-transcribe'));
    for (const unlisted of ['nobody-knows-2026-05-07', 'gpt-realtime-2.1-mega', 'gpt-realtime-2.1-2026-05-07-mini'])
      expect(prices.find(unlisted), unlisted).toBeUndefined();
  });

  test('that is shipped knows the transcription models of its providers, none of which costs more than two cents a minute', () => {
    const prices = readPrices(undefined);
    const names = Object.keys(shipped.models).filter((name) => /transcribe|whisper/.test(name));
    expect(names).toEqual(
      expect.arrayContaining(['gpt-transcribe', 'gpt-live-transcribe', 'gpt-realtime-whisper', 'gpt-4o-transcribe']),
    );
    // A minute of speech as providers report it: as time, or as ten audio tokens a second and about two hundred words.
    const minute = { ...NO_TOKENS, audioIn: 600, textOut: 250 };
    for (const name of names) {
      const { price } = prices.priceOf(name, null);
      expect(price.perMinute, name).toBeLessThanOrEqual(20_000);
      expect(price.estimatePerMinute, name).toBeLessThanOrEqual(20_000);
      expect(chargeOf(priceTokens(minute, price, prices.dearest)), name).toBeLessThanOrEqual(20_000);
    }
  });

  test.each([
    ['is missing', undefined],
    ['is no JSON', '{'],
    ['has a fraction of a micro-dollar', { version: 'x', models: { m: { perMinute: 0.5, estimatePerMinute: 1 } } }],
    ['has a model without a price', { version: 'x', models: { m: { estimatePerMinute: 1 } } }],
    [
      'has a minimum of time for a model that has no price of time',
      { version: 'x', models: { m: { per1M: {}, minimumSec: 15, estimatePerMinute: 1 } } },
    ],
    ['has a class that nobody knows', { version: 'x', models: { m: { per1M: { video: 1 }, estimatePerMinute: 1 } } }],
  ])('refuses to start on a PRICES_FILE that %s', async (_, content) => {
    const file = content === undefined ? join(folder, 'none.json') : await listOf(content);
    expect(() => readPrices(file)).toThrow(ConfigError);
    expect(() => readPrices(file)).toThrow(/PRICES_FILE: /);
  });
});

function settings(mode: Config['mode'], callMode: Config['calls']['mode']) {
  return { mode, calls: { mode: callMode } as Config['calls'] };
}

describe('Agents in production', () => {
  test('need a price of their own or of the list where calls are metered', () => {
    const prices = readPrices(undefined);
    const good = [{ id: 'a' }, { id: 'b', model: 'gpt-realtime-mini' }, { id: 'c', model: 'own', price: byTime }];
    const metered = settings('production', 'brokered');
    expect(() => requirePrices([tenantWith(...good)], 'tenants.json', prices, metered)).not.toThrow();
    const bad = tenantWith(...good, { id: 'd', model: 'mystery' });
    expect(() => requirePrices([bad], 'tenants.json', prices, metered)).toThrow(
      /tenant acme, agent d: has the model "mystery"/,
    );
  });

  test('need a price of what transcribes as well, which is not their own', () => {
    const prices = readPrices(undefined);
    const check = (model: string) => () =>
      requirePrices(
        [tenantWith({ id: 'd', model: 'own', price: byTime, transcribe: { model } })],
        'tenants.json',
        prices,
        settings('production', 'brokered'),
      );
    expect(check('gpt-live-transcribe')).not.toThrow();
    expect(check('mystery')).toThrow(/tenant acme, agent d: transcribes with "mystery", which has no price/);
  });

  test('need none in development, or where calls are direct', () => {
    const prices = readPrices(undefined);
    const mystery = { id: 'd', model: 'mystery' };
    const check = (tenant: Tenant, of: ReturnType<typeof settings>) => () =>
      requirePrices([tenant], 'tenants.json', prices, of);
    expect(check(tenantWith(mystery), settings('development', 'brokered'))).not.toThrow();
    expect(check(tenantWith(mystery), settings('production', 'direct'))).not.toThrow();
    expect(check(tenantWith({ ...mystery, call: 'direct' }), settings('production', 'brokered'))).not.toThrow();
    expect(check(tenantWith({ ...mystery, call: 'brokered' }), settings('production', 'direct'))).toThrow(/mystery/);
  });

  test('need none for a dated snapshot of a model that has one, and are told when that is switched off', () => {
    const prices = readPrices(undefined);
    const tenants = [tenantWith({ id: 'pinned', model: 'gpt-realtime-2025-08-28' })];
    expect(() => requirePrices(tenants, 'tenants.json', prices, settings('production', 'brokered'))).not.toThrow();
    expect(findShutdowns(tenants, prices, Date.parse('2027-01-01'))).toHaveLength(1);
  });

  test('are told of from 60 days before their model is switched off', () => {
    const prices = readPrices(undefined);
    const tenants = [tenantWith({ id: 'old', model: 'gpt-realtime' }, { id: 'new' })];
    const day = (text: string) => findShutdowns(tenants, prices, Date.parse(text));
    expect(day('2026-11-20')).toEqual([]);
    expect(day('2026-11-21')).toEqual([expect.stringMatching(/gpt-realtime \(acme\/old\).*2027-01-20/)]);
    expect(day('2027-06-01')).toHaveLength(1);
  });
});
