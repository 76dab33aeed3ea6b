import { afterEach, expect, test, vi } from 'vitest';
import { soon } from '../support/soon.ts';
import type { World } from '../support/world.ts';
import { Page, responseOf, seen, startCalls } from './calls-world.ts';

let world: World;

afterEach(() => world.close());

test('No page ever gets a provider credential or a provider’s call id, and no log line contains a secret of a call', async () => {
  world = await startCalls({ LOG_LEVEL: 'debug' });
  const page = await Page.of(world).create({ metadata: { page: 'home' } });
  const socket = await page.listen();
  await socket.hear();
  const call = await page.dial(world);
  call.speechStarted();
  call.respond(responseOf().usage);
  await vi.waitFor(async () => expect(await page.usage()).toMatchObject({ tokens: responseOf().tokens }), soon);
  await page.post('/api/realtime/heartbeat', { idleSec: 0 });
  await page.post('/api/auth/usage', {
    tokens: 1,
    dollars: 0,
    response: { id: 'resp_page', usage: responseOf().usage },
  });
  const second = await (await page.askTicket()).dial(world);
  // Includes refusals: for a spent ticket, from a provider that quotes its key, and of an attachment.
  expect((await page.exchange()).status).toBe(401);
  world.provider.mode = 'invalid key';
  expect((await (await page.askTicket()).exchange()).status).toBe(502);
  world.provider.mode = 'ok';
  await page.end();
  const { code } = await socket.closed;
  expect(code).toBeGreaterThanOrEqual(1000);
  await page.post('/api/realtime/heartbeat');

  const calls = [call, second].map(({ id }) => id);
  const bytes = page.got.join('\n');
  expect(page.got.length).toBeGreaterThan(20);
  expect(bytes).toContain('call_');
  for (const secret of [world.provider.apiKey, ...calls]) expect(bytes).not.toContain(secret);
  expect(bytes.match(/\b(?:rtc|sk|ek)_(?!sb_)\w+/g)).toBeNull();

  expect((await seen(world, page)).calls.map(({ providerCallId }) => providerCallId)).toEqual([
    null,
    ...calls.toReversed(),
  ]);
  const printed = world.printed();
  expect(printed).toContain('call_');
  expect(calls.filter((secret) => printed.includes(secret))).toEqual([]);
  expect(printed.match(/ek_sb_\w+|ice-ufrag|a=fingerprint/g)).toBeNull();
  expect(world.leaks()).toEqual([]);
});
