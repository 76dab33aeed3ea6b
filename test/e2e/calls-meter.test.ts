import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import shipped from '../../config/prices.json' with { type: 'json' };
import { soon } from '../support/soon.ts';
import type { World } from '../support/world.ts';
import { microDollars, Page, responseOf, seen, startCalls } from './calls-world.ts';

let world: World;

afterEach(() => world.close());

describe('A page that reports nothing', () => {
  test('is metered to the micro-dollar as the provider bills it, even when one call replaces another', async () => {
    world = await startCalls();
    const page = Page.of(world);
    const first = await page.call(world);
    let expected = 0;
    let tokens = 0;
    let pico = 0n;
    for (const scale of [1, 3, 7]) {
      const { usage, ...billed } = responseOf(scale);
      first.respond(usage);
      tokens += billed.tokens;
      pico += billed.pico;
    }
    expected += microDollars(pico);
    await page.askTicket();
    const second = await page.dial(world);
    const one = responseOf(5);
    second.respond(one.usage);
    // The end of the session cuts this response off; it is billed all the same.
    const last = responseOf(11);
    second.beginResponse(last.usage);
    tokens += one.tokens + last.tokens;
    expected += microDollars(one.pico + last.pico);
    await page.end();
    await vi.waitFor(() => expect(second.ended?.reason).toBe('hangup'), soon);
    expect(second.billed).toHaveLength(2);
    await vi.waitFor(async () => expect(await page.usage()).toMatchObject({ tokens, dollars: expected / 1e6 }), soon);
    const { calls } = await seen(world, page);
    expect(calls.map((call) => call.microDollars)).toEqual([microDollars(one.pico + last.pico), microDollars(pico)]);
    expect(calls).toMatchObject([
      { basis: 'events', estimatedMicroDollars: 0, gapSec: 0 },
      { basis: 'events', estimatedMicroDollars: 0, gapSec: 0, closeReason: 'replaced' },
    ]);
  });
});

describe('A restart of the only process with other prices', () => {
  test('lets agents say goodbye to visitors who are still there, and applies the prices to later usage only', async () => {
    world = await startCalls();
    const before = Page.of(world);
    const call = await before.call(world);
    const { usage, tokens, pico } = responseOf();
    call.respond(usage);
    await vi.waitFor(async () => expect(await before.usage()).toMatchObject({ tokens }), soon);
    await before.end();
    const model = 'gpt-realtime-2.1';
    const price = shipped.models[model];
    const per1M = Object.fromEntries(Object.entries(price.per1M).map(([name, rate]) => [name, 2 * rate]));
    const file = join(world.directory, 'prices.json');
    await writeFile(file, JSON.stringify({ version: 'doubled', models: { [model]: { ...price, per1M } } }));
    const stayed = await Page.of(world).create({ wrapUp: 'See you soon.' });
    const talk = await stayed.dial(world);
    const ending = world.server.end('SIGTERM');
    const goodbye = { type: 'response.create', response: { instructions: 'Say exactly: See you soon.' } };
    await vi.waitFor(() => expect(talk.heard.at(-1)).toMatchObject(goodbye), soon);
    talk.finishResponse();
    expect(await ending).toEqual({ code: 0, signal: null });
    expect(talk.heard.filter(({ type }) => type === 'response.cancel')).toEqual([]);
    await world.startServer({ PRICES_FILE: file });

    const after = Page.of(world);
    (await after.call(world)).respond(usage);
    await vi.waitFor(
      async () => expect(await after.usage()).toMatchObject({ tokens, dollars: microDollars(2n * pico) / 1e6 }),
      soon,
    );
    expect(await before.usage()).toMatchObject({ tokens, dollars: microDollars(pico) / 1e6 });
    expect((await seen(world, before)).calls).toMatchObject([{ microDollars: microDollars(pico) }]);
  });
});
