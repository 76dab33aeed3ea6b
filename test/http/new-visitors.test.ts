import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { attached, ChannelClient } from '../channel/client.ts';
import { service, somebody, type Reply, type TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { SiteverifyServer } from '../support/siteverify-server.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const { build } = useApps();

/** A provider whose calls Switchboard can hear. */
function heardProvider(meter: 'events' | 'clock' = 'events'): FakeProvider {
  const provider = new FakeProvider({ call: 'brokered', isSimulated: false });
  provider.capabilities = { ...provider.capabilities, meter };
  return provider;
}

const brokered = { CALL_MODE: 'brokered' };

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build({ provider: heardProvider(), env: brokered });
  key = await app.key({ limits: { newVisitorSeconds: 60, sessionsPerMinute: 100, concurrentSessions: 100 } });
});

const idOf = ({ body }: Reply): string => String(body['sm_session_id']);
const secondsOf = ({ body }: Reply): unknown => (body['limits'] as Record<string, unknown>)['newVisitorSeconds'];
const beat = (id: string): Promise<Reply> => app.post('/api/realtime/heartbeat', { sm_session_id: id });
const endsAtOf = ({ body }: Reply): unknown => (body['session'] as Record<string, unknown>)['endsAt'];

describe('The session of a new visitor', () => {
  test('ends after the seconds that the key sets, and until then says when', async () => {
    const created = await app.create(key);
    const id = idOf(created);
    expect(created.body['limits']).toEqual({ maxMinutes: 15, maxIdleSec: 300, newVisitorSeconds: 60 });
    app.clock.advance(MINUTE);
    const at = new Date(app.clock.now()).toISOString();
    expect(endsAtOf(await beat(id))).toBe(at);
    app.clock.advance(1);
    await app.sweep();
    const over = await beat(id);
    expect(errorOf(over)).toEqual({ status: 403, code: 'SESSION_DURATION_EXCEEDED' });
    expect(over.body['reason']).toBe('duration_exceeded');
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: app.clock.now() - 1 });
    const { body } = await app.get(`/api/operator/sessions/${id}`, service);
    expect((body['why'] as { readonly sentence: string }).sentence).toContain(
      `had said and written nothing in 60 s (limits.newVisitorSeconds of the key acme/${key.id})`,
    );
    expect(body['limits']).toMatchObject({ newVisitorSeconds: { value: 60, setBy: 'limits.newVisitorSeconds' } });
  });

  test('goes on like any other once the visitor has spoken, and says so', async () => {
    const id = idOf(await app.create(key));
    app.clock.advance(59 * SECOND);
    await app.sessions.noteSpoke(id, app.clock.now());
    app.clock.advance(2 * SECOND);
    await app.sweep();
    const reply = await beat(id);
    expect([reply.status, Object.keys(reply.body['session'] as object)]).toEqual([
      200,
      ['active', 'startedAt', 'lastSeenAt', 'durationSec', 'idleSec'],
    ]);
    for (let beats = 0; beats < 14; beats += 1) {
      app.clock.advance(MINUTE - 1000 * Number(beats === 0));
      await beat(id);
    }
    app.clock.advance(1);
    await app.sweep();
    expect(await app.sessions.find(id)).toMatchObject({ endReason: 'duration_exceeded' });
    const { body } = await app.get(`/api/operator/sessions/${id}`, service);
    expect((body['why'] as { readonly sentence: string }).sentence).toContain('15 min (MAX_SESSION_MINUTES) were over');
    expect(body['limits']).not.toHaveProperty('newVisitorSeconds');
  });

  test('stays what it is on the next page: a visitor who has spoken need not speak again', async () => {
    const first = await app.create(key);
    const tokenOf = async (): Promise<string> => {
      const page = new ChannelClient(app);
      page.say({ type: 'attach', sm_session_id: idOf(first), wants: ['call'] });
      return ((await page.hear()) as { resume: string }).resume;
    };
    const silent = await app.create(key, { resume: await tokenOf() });
    expect([silent.status, secondsOf(silent)]).toEqual([200, 60]);
    await app.sessions.noteSpoke(idOf(first), app.clock.now());
    const heard = await app.create(key, { resume: await tokenOf() });
    expect([heard.status, secondsOf(heard)]).toEqual([200, undefined]);
  });

  test('is listed among those that end soon, before others that started earlier', async () => {
    const ending = async () => {
      const { body } = await app.get(
        `/api/operator/sessions?endingWithinSec=100&sort=deadline&keyId=${key.id}&tenantId=acme`,
        service,
      );
      return (body['sessions'] as { ref: string; deadline: unknown }[]).map(({ ref, deadline }) => [ref, deadline]);
    };
    const refOf = (id: string): string => id.slice(0, -15);
    const old = idOf(await app.create(key));
    await app.sessions.noteSpoke(old, app.clock.now());
    for (let minutes = 0; minutes < 13.5; minutes += 4.5) {
      await beat(old);
      app.clock.advance(4.5 * MINUTE);
    }
    await beat(old);
    const silent = idOf(await app.create(key));
    const spoke = idOf(await app.create(key));
    await app.sessions.noteSpoke(spoke, app.clock.now());
    const at = (ms: number): string => new Date(app.clock.now() + ms).toISOString();
    expect(await ending()).toEqual([
      [refOf(silent), { at: at(MINUTE + 1), to: 'ended', reason: 'duration_exceeded' }],
      [refOf(old), { at: at(1.5 * MINUTE + 1), to: 'ended', reason: 'duration_exceeded' }],
    ]);
    const { body } = await app.get('/api/operator/overview', service);
    app.clock.advance(MINUTE);
    await app.sessions.noteSpoke(silent, app.clock.now());
    expect(await ending()).toHaveLength(1);
    expect(body['endingSoon']).toBeGreaterThan(0);
  });
});

describe('A new visitor', () => {
  test('is every caller of the key, even one who names an e-mail address, because a script can invent one', async () => {
    expect(secondsOf(await app.create(key, { email: somebody() }))).toBe(60);
  });

  test('is not a user whom a back end names, but is one whom it does not name', async () => {
    expect(secondsOf(await app.create(key, { email: somebody() }, service))).toBeUndefined();
    expect(secondsOf(await app.create(key, {}, service))).toBe(60);
    const headers = {
      ...service,
      'x-switchboard-tenant': 'acme',
      'x-switchboard-agent': 'support',
      'x-switchboard-key': key.id,
    };
    const { status, body } = await app.post('/v1/realtime/client_secrets', {}, headers);
    expect([status, (body['switchboard'] as Reply['body'])['limits']]).toEqual([
      200,
      { maxMinutes: 15, maxIdleSec: 300 },
    ]);
  });

  test('is never a console user, nor a visitor of a key without the limit', async () => {
    const boss = await app.as(somebody());
    const console = await app.post('/api/session', { tenantId: 'acme' }, boss);
    expect([console.status, secondsOf(console)]).toEqual([200, undefined]);
    expect(secondsOf(await app.create(await app.key()))).toBeUndefined();
  });

  test('is nobody if calls are not heard', async () => {
    const direct = await app.key({ limits: key.limits, call: 'direct' });
    expect(secondsOf(await app.create(direct))).toBeUndefined();
    app = await build({ provider: heardProvider('clock'), env: brokered });
    expect(secondsOf(await app.create(await app.key({ limits: key.limits })))).toBeUndefined();
  });

  test('is not a visitor who has solved a challenge for the create', async () => {
    const verify = await SiteverifyServer.start('turnstile');
    app = await build({
      provider: heardProvider(),
      env: {
        ...brokered,
        BOT_PROVIDER: 'turnstile',
        BOT_SITE_KEY: verify.siteKey,
        BOT_SECRET: verify.secret,
        BOT_VERIFY_URL: verify.url,
        OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
      },
    });
    const shop = await app.key({ origin: 'https://shop.example', limits: key.limits });
    const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
    const program = { 'user-agent': 'curl/8.5.0' };
    expect(secondsOf(await app.create(shop, {}, browser))).toBe(60);
    const { challenge } = (await app.create(shop, {}, program)).body as { challenge: { data: string; action: string } };
    const { data: cdata, action } = challenge;
    const token = verify.solve({ hostname: 'shop.example', action, cdata, atMs: app.clock.now() });
    const solved = await app.create(shop, {}, { ...program, 'x-switchboard-challenge': token });
    expect([solved.status, secondsOf(solved)]).toEqual([200, undefined]);
    await verify.close();
  });
});

describe('The sockets of a new visitor’s session', () => {
  test('are told when it ends, are warned of the silence, and are told once, at once, that it goes on', async () => {
    const id = idOf(await app.create(key));
    const endsAt = new Date(app.clock.now() + MINUTE).toISOString();
    const page = new ChannelClient(app);
    page.say({ type: 'attach', sm_session_id: id });
    expect(page.heard()).toMatchObject([{ type: 'attached', session: { endsAt }, limits: { newVisitorSeconds: 60 } }]);
    page.say({ type: 'heartbeat', id: 1 });
    expect(page.heard()).toMatchObject([{ type: 'heartbeat', session: { endsAt } }]);
    for (let second = 0; second < 55; second += 1) {
      app.clock.advance(SECOND);
      app.service.hub.tick();
    }
    expect(page.heard()).toEqual([{ type: 'warning', reason: 'idle', secondsLeft: 10 }]);
    await app.sessions.noteSpoke(id, app.clock.now());
    const [told, ...more] = page.heard();
    expect(told).toMatchObject({ type: 'state', state: 'engaged', session: { active: true, durationSec: 55 } });
    expect([JSON.stringify(told).includes('endsAt'), more]).toEqual([false, []]);
    for (let second = 0; second < 60; second += 1) {
      app.clock.advance(SECOND);
      app.service.hub.tick();
    }
    page.say({ type: 'heartbeat', id: 2 });
    expect(JSON.stringify(page.heard())).not.toMatch(/endsAt|warning|ended/);
  });

  test('are told nothing when the visitor of another session speaks', async () => {
    const id = await app.open(await app.key());
    const page = attached(app, id);
    await app.sessions.noteSpoke(id, app.clock.now());
    expect(page.heard()).toEqual([]);
  });
});
