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
/** A world of its own in which sessions soon go idle; with one limit for all, a busy machine could let the other sessions go idle too. */
let quiet: World;

beforeAll(async () => {
  const settings = { MAX_SESSION_MINUTES: '1', CALL_GRACE_SEC: '1' };
  world = await startCalls(settings, tenants);
  quiet = await startCalls({ ...settings, MAX_SESSION_IDLE_SEC: '10' }, tenants);
});

afterAll(() => Promise.all([world.close(), quiet.close()]));

async function hungUp(page: Page, call: TestCall, endReason: string, of = world): Promise<void> {
  await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), { ...soon, timeout: 100_000 });
  await vi.waitFor(
    async () => expect(await seen(of, page)).toMatchObject({ calls: [{ state: 'closed', hangup: 'confirmed' }] }),
    soon,
  );
  expect(await seen(of, page)).toMatchObject({ state: 'ended', endReason });
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

  test.concurrent('when nobody has spoken for long, even if its heartbeats say otherwise', async () => {
    const page = Page.of(quiet);
    const call = await page.call(quiet);
    const beat = async (): Promise<unknown> => page.post('/api/realtime/heartbeat', {});
    const timer = setInterval(() => void beat(), 1000);
    call.speechStarted();
    await hungUp(page, call, 'idle_exceeded', quiet).finally(() => clearInterval(timer));
  });
});

test.concurrent('A page that left its call is followed by another one, long after the time in which that page could have called again', async () => {
  const page = Page.of(world);
  const call = await page.call(world);
  const socket = await page.listen(['call']);
  const { resume } = JSON.parse(await socket.hear()) as { readonly resume: string };
  socket.socket.close();
  call.end('remote');
  const grace = async (): Promise<unknown> => {
    const [{ ref } = { ref: '' }] = (await seen(world, page)).calls;
    const path = `/api/operator/sessions/${encodeURIComponent(page.sessionId)}/calls/${ref}`;
    return (await world.backend().get(path)).body;
  };
  await vi.waitFor(
    async () =>
      expect(await grace()).toMatchObject({
        events: expect.arrayContaining([expect.objectContaining({ event: 'AWAITED' })]),
      }),
    soon,
  );
  const next = Page.of(world);
  Object.assign(next, { email: page.email });
  const reply = await next.tryCreate({ resume });
  expect([reply.status, reply.body]).toMatchObject([200, { resumed: true, sm_session_id: page.sessionId }]);
  const followed = await next.dial(world);
  expect(followed.ended).toBeUndefined();
  expect(await seen(world, next)).toMatchObject({
    state: 'engaged',
    calls: [{ state: 'open' }, { state: 'closed' }],
  });
});
