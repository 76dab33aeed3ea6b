import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TestCall } from '../support/provider/call.ts';
import { soon } from '../support/soon.ts';
import { acme, site, siteKey, type World } from '../support/world.ts';
import { Page, responseOf, seen, startCalls } from './calls-world.ts';

const narrowKey = 'w_acme_narrow_5555555555555555555555555555555';
const siteEntry = { id: 'site', key: siteKey, origin: site };
const narrowEntry = { id: 'narrow', key: narrowKey, origin: site, limits: { dailyTokens: 2000 } };
const tenants = { tenants: acme.tenants.map((tenant) => ({ ...tenant, widgetKeys: [siteEntry, narrowEntry] })) };

let world: World;

beforeAll(async () => {
  world = await startCalls({ MAX_SESSION_MINUTES: '1' }, tenants);
});

afterAll(() => world.close());

async function hungUp(page: Page, call: TestCall, endReason: string): Promise<void> {
  await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), { ...soon, timeout: 100_000 });
  await vi.waitFor(
    async () => expect(await seen(world, page)).toMatchObject({ calls: [{ state: 'closed', hangup: 'confirmed' }] }),
    soon,
  );
  expect(await seen(world, page)).toMatchObject({ state: 'ended', endReason });
}

/** The provider hears the caller speak until the call is over, so the session is not idle, whatever the page says. */
function keepSpeaking(call: TestCall): void {
  const timer = setInterval(() => (call.ended === undefined ? call.speechStarted() : clearInterval(timer)), 500);
}

describe('A page that ignores the end of its session falls silent, because its call is hung up', () => {
  test.concurrent('when its client ends it', async () => {
    const page = Page.of(world);
    const call = await page.call(world);
    expect((await page.end()).status).toBe(200);
    await hungUp(page, call, 'closed_by_client');
  });

  test.concurrent('when its usage exceeds the day’s ceiling', async () => {
    const page = await Page.of(world).create({ widgetKey: narrowKey });
    const call = await page.dial(world);
    call.respond(responseOf().usage);
    expect(call.ended).toBeUndefined();
    call.respond(responseOf().usage);
    await hungUp(page, call, 'quota_exceeded');
    expect(await page.usage()).toMatchObject({ tokens: 2 * responseOf().tokens });
  });

  test.concurrent('when its time is up, even while the visitor speaks', async () => {
    const page = Page.of(world);
    const call = await page.call(world);
    keepSpeaking(call);
    await hungUp(page, call, 'duration_exceeded');
  });
});
