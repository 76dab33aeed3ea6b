import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { upstreamRefusal } from '../../../src/protocol/refusal.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { unique, type TestApp } from '../../support/app.ts';
import { HOUR, MINUTE } from '../../support/clock.ts';
import { FakeProvider } from '../../support/fake-provider.ts';
import { useApps } from '../../support/use-apps.ts';
import { exchange, fakeCalls, openBrokered, type Opened } from '../../http/calls.ts';

const { build } = useApps();

let openCall: ReturnType<typeof fakeCalls>;

/** The default model is expected to cost 0.30 dollars a minute, which is what the default RESERVE_SEC holds back. */
async function brokered(env: Record<string, string> = {}): Promise<TestApp> {
  const app = await build({ provider: new FakeProvider({ call: 'brokered' }), env: { CALL_MODE: 'brokered', ...env } });
  openCall = fakeCalls(app);
  return app;
}

const roomy = { concurrentSessions: 100, sessionsPerMinute: 100 };
const spent = { status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } };

function held(app: TestApp, key: WidgetKey): Promise<number> {
  return heldOf(app, app.service.subjects.widgetKey(key.tenantId, key.id));
}

async function heldOf(app: TestApp, account: string): Promise<number> {
  const at = app.clock.now();
  const { heldByOthers } = await app.service.stores.holds.standing(account, app.service.calendar(at).day, 'nobody', at);
  return heldByOthers.microDollars;
}

/** Opens a session with a call. */
async function talk(app: TestApp, key: WidgetKey, body: object = {}): Promise<Opened> {
  const opened = await openBrokered(app, key, body);
  expect((await exchange(app, opened)).status).toBe(201);
  return opened;
}

async function newTicket(app: TestApp, opened: Opened): Promise<Opened> {
  const { status, body } = await app.post(
    '/api/realtime/ticket',
    { sm_session_id: opened.id },
    { origin: opened.origin },
  );
  expect(status).toBe(200);
  return { ...opened, ticket: (body['client_secret'] as { readonly value: string }).value };
}

describe('A session whose calls are metered here', () => {
  test('holds nothing back before it has a call, so that creates alone shut nobody out', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 3 }, totals: { dollarsDaily: 3 } });
    for (let n = 0; n < 10; n += 1) expect((await app.create(key)).status).toBe(200);
    expect([await held(app, key), await heldOf(app, `key:acme:${key.id}`)]).toEqual([0, 0]);
    await talk(app, key);
    expect([await held(app, key), await heldOf(app, `key:acme:${key.id}`)]).toEqual([300_000, 300_000]);
  });

  test('holds back a minute of its model, or what is left; when nothing is, none can call, and its ticket is not spent', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.5 } });
    const first = await talk(app, key);
    await talk(app, key);
    expect(await held(app, key)).toBe(500_000);
    const third = await openBrokered(app, key);
    expect(await exchange(app, third)).toMatchObject(spent);
    expect(openCall).toHaveBeenCalledTimes(2);
    await app.post('/api/realtime/end', { sm_session_id: first.id });
    expect((await exchange(app, third)).status).toBe(201);
  });

  test('holds back of what all keys of its tenant may use together as well', async () => {
    const app = await brokered();
    const tenant = { id: unique('tenant'), name: 'T', agents: [], admins: null, keys: [] };
    await app.service.stores.tenants.merge([{ ...tenant, totals: { dollarsDaily: 0.5 } }]);
    const [one, other] = [
      await app.key({ tenantId: tenant.id, limits: roomy }),
      await app.key({ tenantId: tenant.id, limits: roomy }),
    ];
    await talk(app, one);
    await talk(app, other);
    expect(await heldOf(app, `tenant:${tenant.id}`)).toBe(500_000);
    expect(await exchange(app, await openBrokered(app, one))).toMatchObject(spent);
  });

  test('is one of as many as what is there allows, of ten that call at once', async () => {
    const app = await brokered({ RESERVE_SEC: '30' });
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.4 } });
    const opened = await Promise.all(Array.from({ length: 10 }, () => openBrokered(app, key)));
    const replies = await Promise.all(opened.map((each) => exchange(app, each)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(7);
    expect(await held(app, key)).toBe(400_000);
  });

  test('calls alone while anything is left', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.000002 } });
    await talk(app, key);
    expect(await held(app, key)).toBe(2);
  });

  test('gives back what it held when it ends, and at the latest when its longest life is over', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.3 } });
    const { id } = await talk(app, key);
    await app.post('/api/realtime/end', { sm_session_id: id });
    expect(await held(app, key)).toBe(0);
    await talk(app, key);
    app.clock.advance(HOUR);
    expect(await held(app, key)).toBe(0);
  });

  test('gives back what it held when it goes idle, although it has not ended', async () => {
    const app = await brokered();
    const key = await app.key({ limits: roomy });
    const opened = await talk(app, key);
    app.clock.advance(6 * MINUTE);
    await app.sweep();
    expect((await app.sessions.find(opened.id))?.endedAtMs).toBe(null);
    expect(await held(app, key)).toBe(0);
  });

  test('holds the same again with each of its calls, and no more', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.3 } });
    const opened = await talk(app, key);
    expect((await exchange(app, await newTicket(app, opened))).status).toBe(201);
    expect(await held(app, key)).toBe(300_000);
  });

  test('holds back of the key’s own ceiling as well', async () => {
    const app = await brokered();
    const key = await app.key({ limits: roomy, totals: { dollarsDaily: 0.4 } });
    const visitors = ['a@example.com', 'b@example.com', 'c@example.com'];
    const replies = [];
    for (const email of visitors) replies.push((await exchange(app, await openBrokered(app, key, { email }))).status);
    expect(replies).toEqual([201, 201, 429]);
    expect(await heldOf(app, `key:acme:${key.id}`)).toBe(400_000);
    expect(await heldOf(app, app.service.subjects.widgetUser('acme', 'c@example.com'))).toBe(0);
  });

  test('whose call does not come about holds nothing', async () => {
    const app = await brokered();
    const key = await app.key({ limits: roomy });
    openCall.mockResolvedValueOnce(upstreamRefusal());
    expect((await exchange(app, await openBrokered(app, key))).status).toBe(502);
    openCall.mockRejectedValueOnce(new Unavailable('database'));
    expect((await exchange(app, await openBrokered(app, key))).status).toBe(503);
    expect(await held(app, key)).toBe(0);
  });
});

describe('A session whose calls the browser opens itself', () => {
  test('holds nothing back', async () => {
    const app = await build({ env: { CALL_MODE: 'direct' } });
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.000001 } });
    for (let n = 0; n < 3; n += 1) expect((await app.create(key)).status).toBe(200);
    expect(await held(app, key)).toBe(0);
  });
});
