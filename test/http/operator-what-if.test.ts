import { describe, expect, test } from 'vitest';
import { service, STAFF } from '../support/app.ts';
import { app, useApp } from '../support/use-apps.ts';
import { voiceRecord } from '../contracts/support.ts';
import { entryOf } from '../contracts/roll-ups.ts';
import { call } from '../contracts/voice-calls.ts';

const PATH = '/api/operator/what-if';
const SECOND = 1000;

useApp({ env: STAFF });

const ask = (changes: object = {}, headers: Readonly<Record<string, string>> = service) => {
  const now = app.clock.now();
  const span = { from: new Date(now - 86_400_000).toISOString(), to: new Date(now).toISOString() };
  const body = { ...span, tenantId: 'acme', change: { totals: { concurrentSessions: 1 } }, ...changes };
  return app.send({ method: 'POST', path: PATH, body, headers });
};

/** Two sessions of the tenant at the same time, each with a dollar of usage. */
async function talk(tenantId = 'acme'): Promise<void> {
  const { stores } = app.service;
  for (const second of [1, 2]) {
    const startedAtMs = app.clock.now() - 60_000 + second * SECOND;
    const record = voiceRecord({ tenantId, keyId: 'site', startedAtMs, lastActivityAtMs: startedAtMs });
    await stores.history.insert({ record, state: 'engaged' });
    const used = { sessionId: record.id, atMs: startedAtMs + SECOND, microDollars: 1_000_000, tenantId };
    await stores.ledger.record(entryOf(record.subject, used));
  }
}

describe('What would have happened', () => {
  test('is replayed from stored data, without a trace in the audit', async () => {
    await talk();
    const reply = await ask();
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      creates: { total: 2, refused: 1, byCode: { MAX_CONCURRENT_SESSIONS: 1 } },
      ended: 0,
      dollars: { actual: 2, replayed: 1 },
    });
    expect((await app.get('/api/operator/audit', service)).body).toMatchObject({ rows: [] });
    expect((await ask({ change: { totals: { concurrentSessions: 2 } } })).body).toMatchObject({
      creates: { total: 2, refused: 0, byCode: {} },
      dollars: { actual: 2, replayed: 2 },
    });
  });

  test('includes what a budget had counted before the span', async () => {
    await talk('globex');
    const budget = { id: 'march', of: 'tenant', period: 'month', dollars: 1, then: 'end' };
    const change = { tenantId: 'globex', change: { budget } };
    expect((await ask(change)).body).toMatchObject({ ended: 2, dollars: { actual: 2, replayed: 1 } });
    const from = new Date(app.clock.now() - 60_000 + 2 * SECOND + 1).toISOString();
    expect((await ask({ ...change, from })).body).toMatchObject({
      creates: { total: 0 },
      ended: 2,
      dollars: { replayed: 0 },
    });
  });

  test('includes how long calls were connected, also before the span', async () => {
    const { stores } = app.service;
    const startedAtMs = app.clock.now() - 120_000;
    const record = voiceRecord({ tenantId: 'globex', keyId: 'site', startedAtMs, lastActivityAtMs: startedAtMs });
    await stores.history.insert({ record, state: 'engaged' });
    const { id: sessionId, subject } = record;
    const opened = { state: 'open', openedAtMs: startedAtMs } as const;
    await stores.calls.insert(call({ tenantId: 'globex', sessionId, subject, ...opened }), 9);
    const from = new Date(startedAtMs + 60_000).toISOString();
    const tried = async (minutes: number) => {
      const budget = { id: 'march', of: `user:${subject}`, period: 'month', minutes };
      return (await ask({ tenantId: 'globex', from, change: { budget } })).body['ended'];
    };
    expect([await tried(0.5), await tried(1.5), await tried(2.5)]).toEqual([1, 1, 0]);
  });

  test('is refused for a key that there is not', async () => {
    expect(await ask({ change: { keyId: 'nobody', totals: { dollarsDaily: 1 } } })).toMatchObject({ status: 404 });
  });

  test('runs at most twice at once in a process, and further callers are told to wait', async () => {
    const { history } = app.service.stores;
    const list = history.list.bind(history);
    let reading = 0;
    let goOn = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (goOn = resolve));
    Object.assign(history, {
      list: async (...asked: Parameters<typeof list>) => {
        reading += 1;
        await isHeld;
        return list(...asked);
      },
    });
    const running = [ask(), ask()];
    await expect.poll(() => reading).toBe(2);
    expect((await ask()).status).toBe(429);
    goOn();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask()).status).toBe(200);
  });

  test('is available to viewers, and to admins for their own tenant', async () => {
    expect((await ask({}, await app.as('vera@example.com'))).status).toBe(200);
    expect((await ask({ tenantId: 'globex' }, await app.as('boss@globex.example'))).status).toBe(200);
  });
});
