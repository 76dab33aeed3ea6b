import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { CONSOLE, service, somebody, type Reply, type TestApp } from '../../support/app.ts';
import { MINUTE } from '../../support/clock.ts';
import { useApps } from '../../support/use-apps.ts';
import { attached } from '../../channel/client.ts';

const { build } = useApps();

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build({ env: { WIDGET_MAX_TOKENS_PER_MINUTE: '1000' } });
  key = await app.key();
});

const report = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  app.post('/api/auth/usage', { tokens: 0, dollars: 0, ...body }, headers);

const implausible = { status: 422, body: { code: 'USAGE_IMPLAUSIBLE' } };

/** The usage that is counted for a widget's user. */
async function totals(email: string): Promise<unknown> {
  return (await report({ email, tenantId: 'acme' }, service)).body['usage'];
}

async function implausibleSoFar(): Promise<number> {
  const { text } = await app.get('/metrics', service);
  return Number(/switchboard_refusals_total\{code="USAGE_IMPLAUSIBLE"\} (\d+)/.exec(text)?.[1] ?? 0);
}

describe('With WIDGET_MAX_TOKENS_PER_MINUTE a client', () => {
  test('may report as much for each connected minute begun, and for one more', async () => {
    const email = somebody();
    const proof = { email, sm_session_id: await app.open(key, { email }) };
    expect((await report({ ...proof, tokens: 1500 })).status).toBe(200);
    expect(await report({ ...proof, tokens: 501 })).toMatchObject(implausible);
    expect(await totals(email)).toMatchObject({ tokens: 1500 });
    expect(await implausibleSoFar()).toBe(1);
    expect((await report({ ...proof, tokens: 500 })).status).toBe(200);
    app.clock.advance(MINUTE - 1);
    expect(await report({ ...proof, tokens: 1 })).toMatchObject(implausible);
    app.clock.advance(1);
    expect((await report({ ...proof, tokens: 1000 })).status).toBe(200);
    expect(await report({ ...proof, tokens: 1 })).toMatchObject(implausible);
    expect(await totals(email)).toMatchObject({ tokens: 3000 });
  });

  test('may report dollars in the proportion of the daily ceilings of its key', async () => {
    const dear = await app.key({ limits: { dailyTokens: 10_000, dailyDollars: 5 } });
    const proof = { sm_session_id: await app.open(dear) };
    expect((await report({ ...proof, dollars: 1 })).status).toBe(200);
    expect(await report({ ...proof, dollars: 0.000001 })).toMatchObject(implausible);
    expect((await report({ ...proof, tokens: 2000 })).status).toBe(200);
  });

  test('gains nothing by the time after the end, nor by a session that is idle', async () => {
    const ended = { sm_session_id: await app.open(key) };
    const idle = { sm_session_id: await app.open(key) };
    await app.post('/api/realtime/end', ended);
    app.clock.advance(5 * MINUTE);
    expect(await report({ ...ended, tokens: 2001 })).toMatchObject(implausible);
    expect((await report({ ...ended, tokens: 2000 })).status).toBe(200);
    app.clock.advance(30 * MINUTE);
    // The session went idle after five minutes and one second.
    expect(await report({ ...idle, tokens: 7001 })).toMatchObject(implausible);
    expect((await report({ ...idle, tokens: 7000 })).status).toBe(200);
  });

  test('has that bound for each of its sessions, and cannot pass it by many reports at once', async () => {
    const email = somebody();
    for (let n = 0; n < 2; n += 1) {
      const proof = { email, sm_session_id: await app.open(key, { email }) };
      const replies = await Promise.all(Array.from({ length: 20 }, () => report({ ...proof, tokens: 300 })));
      const statuses = replies.map(({ status }) => status);
      expect([statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 422).length]).toEqual([
        6, 14,
      ]);
    }
    expect(await totals(email)).toMatchObject({ tokens: 3600 });
  });

  test('gets the reply of a counted report again, however much was reported since', async () => {
    const email = somebody();
    const proof = { email, sm_session_id: await app.open(key, { email }) };
    const first = await report({ ...proof, tokens: 1500 }, { 'idempotency-key': 'first' });
    await report({ ...proof, tokens: 500 });
    const again = await report({ ...proof, tokens: 1500 }, { 'idempotency-key': 'first' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(await totals(email)).toMatchObject({ tokens: 2000 });
  });

  test('may send a report again that was too early, under the same Idempotency-Key', async () => {
    const proof = { sm_session_id: await app.open(key) };
    const headers = { 'idempotency-key': 'early' };
    expect(await report({ ...proof, tokens: 2500 }, headers)).toMatchObject(implausible);
    app.clock.advance(MINUTE);
    expect(await report({ ...proof, tokens: 2500 }, headers)).toMatchObject({ body: { usage: { tokens: 2500 } } });
  });

  test('is told so over the socket, which stays; it is counted in the metrics', async () => {
    const client = attached(app, await app.open(key));
    client.say({ type: 'usage', tokens: 2001, dollars: 0, id: 'much' });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'USAGE_IMPLAUSIBLE', id: 'much' });
    client.say({ type: 'usage', tokens: 2000, dollars: 0, id: 'less' });
    expect(await client.hear()).toMatchObject({ type: 'usage', usage: { tokens: 2000 } });
    expect(await implausibleSoFar()).toBe(1);
  });
});

describe('WIDGET_MAX_TOKENS_PER_MINUTE', () => {
  test('bounds no service token, also where it names a session, and takes nothing from the client', async () => {
    const email = somebody();
    const sm_session_id = await app.open(key, { email });
    expect((await report({ sm_session_id, tokens: 50_000 }, service)).status).toBe(200);
    expect((await report({ email, tenantId: 'acme', tokens: 50_000 }, service)).status).toBe(200);
    expect((await report({ sm_session_id, email, tokens: 2000 })).status).toBe(200);
    expect(await totals(email)).toMatchObject({ tokens: 102_000 });
  });

  test('bounds no console caller', async () => {
    const email = somebody();
    const cookie = await app.login(email);
    const opened = await app.post('/api/session', { tenantId: 'acme' }, { cookie, origin: CONSOLE });
    const sm_session_id = String(opened.body['sm_session_id']);
    expect((await report({ sm_session_id, email, tokens: 40_000 })).status).toBe(200);
  });

  test('is no bound unless it is set', async () => {
    app = await build();
    const sm_session_id = await app.open(await app.key());
    expect((await report({ sm_session_id, tokens: 300_000 })).status).toBe(200);
  });
});
