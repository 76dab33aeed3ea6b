import { beforeEach, describe, expect, test } from 'vitest';
import { createClientReports } from '../../../src/metering/client-reports.ts';
import type { MeteredCall } from '../../../src/metering/contract.ts';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import type { TokenClasses } from '../../../src/protocol/price.ts';
import type { SessionSetup } from '../../../src/stores/session-setups/contract.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { attached } from '../../channel/client.ts';
import { SERVICE_TOKEN, unique, type TestApp } from '../../support/app.ts';
import { NOON, SECOND } from '../../support/clock.ts';
import { useApps } from '../../support/use-apps.ts';

const { build } = useApps();

let app: TestApp;
let key: WidgetKey;
/** The sessions whose calls are metered, with the ids of their calls, newest first. */
let callsOf: Map<string, string[]>;
let lookUps: string[];

beforeEach(async () => {
  app = await build();
  key = await app.key();
  [callsOf, lookUps] = [new Map(), []];
  const { ledger } = app.service.stores;
  const real = createClientReports({
    isSimulated: false,
    ledger,
    metering: app.service.metering,
    setups: {
      async find(id) {
        lookUps.push(id);
        return callsOf.has(id) ? ({ callMode: 'brokered', price: null } as SessionSetup) : undefined;
      },
    },
    calls: {
      ofSession: async (id) =>
        (callsOf.get(id) ?? []).map((call) => ({ id: call, model: 'gpt-realtime-2.1' }) as CallRecord),
    },
    readUsage: (usage) => {
      const { text } = usage as { text?: number };
      return text === undefined ? undefined : { ...NO_TOKENS, textOut: text };
    },
  });
  Object.assign(app.service.clientReports, real);
});

/** A session with this many calls. @returns its proof and its newest call */
async function metered(calls = 1) {
  const sm_session_id = await app.open(key);
  const ids = Array.from({ length: calls }, () => unique('call_'));
  callsOf.set(sm_session_id, ids);
  const subject = app.service.subjects.widgetKey('acme', key.id);
  const call = (callId = ids[0]): MeteredCall => ({
    callId: callId ?? '',
    sessionId: sm_session_id,
    subject,
    caller: 'widget',
    tenantId: 'acme',
    keyId: key.id,
    model: 'gpt-realtime-2.1',
    price: null,
  });
  return { proof: { sm_session_id }, ids, call };
}

async function gap(call: MeteredCall, ms = 1000): Promise<void> {
  app.service.metering.gap(call, NOON, NOON + ms);
  await app.service.metering.flushCall(call.callId);
}

async function hear(call: MeteredCall, id: string, tokens: Partial<TokenClasses>): Promise<void> {
  const event = { type: 'usage', key: id, model: undefined, tokens: { ...NO_TOKENS, ...tokens } } as const;
  app.service.metering.hear(call, event, app.clock.now());
  await app.service.metering.flushCall(call.callId);
}

const report = (body: object, headers: Record<string, string> = {}) =>
  app.post('/api/auth/usage', { tokens: 0, dollars: 0, ...body }, headers);

describe('The client of a session whose calls are metered here', () => {
  test('is told the present totals, and that its report changed nothing', async () => {
    const { proof, call } = await metered();
    await hear(call(), 'r1', { textOut: 2 });
    const told = { ok: true, counted: false, usage: { tokens: 2, dollars: 0.000048 } };
    expect(await report({ ...proof, tokens: 1_000_000, dollars: 99 })).toMatchObject({ status: 200, body: told });
    expect((await app.sessions.find(proof.sm_session_id))?.endReason).toBe(null);
    const socket = attached(app, proof.sm_session_id);
    socket.say({ type: 'usage', tokens: 5, dollars: 1, id: 'a' });
    expect(await socket.hear()).toMatchObject({ type: 'usage', id: 'a', counted: false, usage: { tokens: 2 } });
    socket.say({ type: 'usage', tokens: 5, dollars: 1, id: 'b' });
    await socket.hear();
    expect(lookUps).toHaveLength(1);
  });

  test('counts nothing for a response where there is no gap, whatever the response', async () => {
    const { proof, call } = await metered();
    expect((await report({ ...proof, response: { id: 'r1', usage: { text: 9 } } })).body).toMatchObject({
      counted: false,
    });
    await hear(call(), 'r1', { textOut: 2 });
    const socket = attached(app, proof.sm_session_id);
    socket.say({ type: 'usage', tokens: 0, dollars: 0, id: 'a', response: { id: 'r2', usage: { text: 9 } } });
    expect(await socket.hear()).toMatchObject({ counted: false, usage: { tokens: 2 } });
  });

  test('fills a gap, at our price, with a response that nobody here heard; lowers nothing and doubles nothing', async () => {
    const { proof, call } = await metered();
    await gap(call());
    await hear(call(), 'heard', { textOut: 10 });
    const dollars = (1000 * 5 + 240) / 1_000_000;
    const say = async (id: string, text: number) =>
      (await report({ ...proof, response: { id, usage: { text } } })).body;
    expect(await say('heard', 10)).toMatchObject({ counted: false, usage: { tokens: 10, dollars } });
    const within = await say('missed', 100);
    expect(within).toMatchObject({ usage: { tokens: 110, dollars } });
    expect(within).not.toHaveProperty('counted');
    expect(await say('missed', 100)).toMatchObject({ counted: false, usage: { tokens: 110, dollars } });
    const beyond = { tokens: 310, dollars: (300 * 24 + 240) / 1_000_000 };
    expect(await say('missed too', 200)).toMatchObject({ usage: beyond });
    expect(await say('unreadable', undefined as never)).toMatchObject({ counted: false, usage: beyond });
  });

  test('fills the gap of the call that it names', async () => {
    const { proof, ids, call } = await metered(2);
    await gap(call(ids[1]));
    const say = async (ref?: string) =>
      (await report({ ...proof, response: { id: 'r1', usage: { text: 1 }, call: ref } })).body;
    expect(await say()).toMatchObject({ counted: false });
    expect(await say('call_of_others')).toMatchObject({ counted: false });
    expect(await say(ids[1])).not.toHaveProperty('counted');
  });

  test('ends its session when what fills the gap carries a total over its ceiling', async () => {
    key = await app.key({ limits: { dailyTokens: 10 } });
    const { proof, call } = await metered();
    await gap(call());
    const over = await report({ ...proof, response: { id: 'r1', usage: { text: 11 } } });
    expect(over).toMatchObject({
      status: 429,
      body: { code: 'DAILY_QUOTA_EXCEEDED', counted: true, usage: { tokens: 11 } },
    });
    expect((await app.sessions.find(proof.sm_session_id))?.endReason).toBe('quota_exceeded');
  });

  test('may fill no more than the installation lets a client report', async () => {
    app = await build({ env: { WIDGET_MAX_TOKENS_PER_MINUTE: '100' } });
    const { ledger } = app.service.stores;
    Object.assign(
      app.service.clientReports,
      createClientReports({
        isSimulated: false,
        ledger,
        metering: app.service.metering,
        setups: {
          find: async () =>
            ({
              callMode: 'brokered',
              price: null,
            }) as SessionSetup,
        },
        calls: {
          ofSession: async () => [
            {
              id: 'call_bounded',
              model: 'gpt-realtime-2.1',
            } as CallRecord,
          ],
        },
        readUsage: (usage) => ({
          ...NO_TOKENS,
          textIn: (
            usage as {
              text: number;
            }
          ).text,
        }),
      }),
    );
    key = await app.key();
    const { proof, call } = await metered();
    await gap(call('call_bounded'));
    const say = (id: string, text: number) => report({ ...proof, response: { id, usage: { text } } });
    expect(await say('r1', 201)).toMatchObject({ status: 422, body: { code: 'USAGE_IMPLAUSIBLE' } });
    expect((await say('r2', 200)).status).toBe(200);
  });
});

describe('Reports that count as ever', () => {
  test('are those with a service token, for costs that the provider does not tell of', async () => {
    const { proof } = await metered();
    const service = { authorization: `Bearer ${SERVICE_TOKEN}` };
    const { body } = await report({ ...proof, tokens: 7, dollars: 0.5 }, service);
    expect(body).toMatchObject({ usage: { tokens: 7, dollars: 0.5 } });
    expect(body).not.toHaveProperty('counted');
  });

  test('are those of sessions whose calls the browser opens itself', async () => {
    const proof = { sm_session_id: await app.open(key) };
    app.clock.advance(SECOND);
    const { body } = await report({ ...proof, tokens: 7, response: { id: 'r1', usage: { text: 100 } } });
    expect(body).toMatchObject({ usage: { tokens: 7 } });
    expect(body).not.toHaveProperty('counted');
    expect((await app.sessions.find(proof.sm_session_id))?.lastActivityAtMs).toBe(NOON + SECOND);
  });
});
