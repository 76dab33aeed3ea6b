import { describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import type { TestApp } from '../../support/app.ts';
import { HOUR } from '../../support/clock.ts';
import { FakeProvider } from '../../support/fake-provider.ts';
import { useApps } from '../../support/use-apps.ts';

const { build } = useApps();

/** The default model is expected to cost 0.30 dollars a minute, which is what RESERVE_SEC holds back by default. */
async function brokered(env: Record<string, string> = {}): Promise<TestApp> {
  const provider = Object.assign(new FakeProvider(), {
    capabilities: { ...new FakeProvider().capabilities, call: 'brokered' },
  });
  return build({ provider, env: { CALL_MODE: 'brokered', ...env } });
}

const roomy = { concurrentSessions: 100, sessionsPerMinute: 100 };
const spent = { status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } };

function held(app: TestApp, key: WidgetKey): Promise<number> {
  const subject = app.service.subjects.widgetKey(key.tenantId, key.id);
  return heldOf(app, subject);
}

async function heldOf(app: TestApp, account: string): Promise<number> {
  const at = app.clock.now();
  const { heldByOthers } = await app.service.stores.holds.standing(account, app.service.calendar(at).day, 'nobody', at);
  return heldByOthers.microDollars;
}

describe('A session whose calls are metered here', () => {
  test('holds back a minute of its model, or what is left; when nothing is, none can open', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.5 } });
    const replies = [await app.create(key), await app.create(key), await app.create(key)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(replies[2]).toMatchObject(spent);
    expect(await held(app, key)).toBe(500_000);
    expect(await app.live.slots.count(app.service.subjects.widgetKey('acme', key.id), app.clock.now())).toBe(2);
  });

  test('is one of as many as what is there allows, of ten that open at once', async () => {
    const app = await brokered({ RESERVE_SEC: '30' });
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.4 } });
    const replies = await Promise.all(Array.from({ length: 10 }, () => app.create(key)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await held(app, key)).toBe(400_000);
  });

  test('opens alone while anything is left', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.000002 } });
    expect((await app.create(key)).status).toBe(200);
    expect(await held(app, key)).toBe(2);
  });

  test('gives back what it held when it ends, and at the latest when its longest life is over', async () => {
    const app = await brokered();
    const key = await app.key({ limits: { ...roomy, dailyDollars: 0.3 } });
    const id = await app.open(key);
    expect(await app.create(key)).toMatchObject(spent);
    await app.post('/api/realtime/end', { sm_session_id: id });
    await app.open(key);
    app.clock.advance(HOUR);
    expect(await held(app, key)).toBe(0);
  });

  test('holds back of the key’s own ceiling as well', async () => {
    const app = await brokered();
    const key = await app.key({ limits: roomy, totals: { dollarsDaily: 0.4 } });
    const visitors = ['a@example.com', 'b@example.com', 'c@example.com'];
    const replies = [];
    for (const email of visitors) replies.push((await app.create(key, { email })).status);
    expect(replies).toEqual([200, 200, 429]);
    expect(await heldOf(app, `key:acme:${key.id}`)).toBe(400_000);
    expect(await heldOf(app, app.service.subjects.widgetUser('acme', 'c@example.com'))).toBe(0);
  });

  test('that does not come about holds nothing', async () => {
    const app = await brokered();
    const key = await app.key({ limits: roomy });
    const away = new Unavailable('database');
    for (const step of [vi.spyOn(app.service.tickets, 'issue'), vi.spyOn(app.sessions, 'open')]) {
      step.mockRejectedValueOnce(away);
      expect((await app.create(key)).status).toBe(503);
      expect(await held(app, key)).toBe(0);
    }
    expect((await app.create(key)).status).toBe(200);
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
