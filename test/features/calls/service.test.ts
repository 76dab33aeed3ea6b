import { expect, test } from 'vitest';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { OperatorEvent } from '../../../src/protocol/operator/event.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { SERVICE_TOKEN, type TestApp } from '../../support/app.ts';
import { brokeredSetup, brokeredTerms } from '../../support/call-session.ts';
import { FakeBrokeredProvider } from '../../support/fake-brokered-provider.ts';
import { ChannelClient } from '../../channel/client.ts';
import { SECOND } from '../../support/clock.ts';
import { exchange, openBrokered, openedBy } from '../../http/calls.ts';
import { useApps } from '../../support/use-apps.ts';

const { build } = useApps();

const subject = '0123456789abcdef0123456789abcdef';

async function withCall(name: string): Promise<{ app: TestApp; provider: FakeBrokeredProvider; session: VoiceRecord }> {
  const provider = new FakeBrokeredProvider();
  const app = await build({ brokered: provider });
  const at = app.clock.now();
  const session = await app.sessions.open(brokeredTerms(`s:${subject}:${name.padEnd(22, 'A')}`), {}, at, 'req');
  const opened = await app.service.calls?.open({
    session,
    setup: brokeredSetup(session.id, at),
    offerSdp: 'v=0\r\n',
    requestId: 'req',
    signal: new AbortController().signal,
  });
  expect(opened).toBeDefined();
  expect(opened).not.toBeInstanceOf(Refusal);
  return { app, provider, session };
}

test('A session of the service that ends has its call hung up', async () => {
  const { app, provider, session } = await withCall('one');
  expect(app.service.heldCalls).toMatchObject({ held: 1, sidebands: 1 });
  await app.sessions.end(session.id, 'closed_by_client', app.clock.now());
  await app.service.heldCalls?.settled();
  expect(provider.live.size).toBe(0);
  expect(app.logged()).not.toContain('rtc_');
});

test('Operators see what happens in a call, and which request opened it', async () => {
  const { app, session } = await withCall('four');
  await app.sessions.end(session.id, 'closed_by_client', app.clock.now(), 'req_end');
  await app.service.heldCalls?.settled();
  await app.service.journalWriter.flush();
  const [call] = (await app.service.calls.ofSession(session.id)) ?? [];
  const path = `/api/operator/sessions/${encodeURIComponent(session.id)}/calls/${call?.id}`;
  const { text, body } = await app.get(path, { authorization: `Bearer ${SERVICE_TOKEN}` });
  expect(body).toMatchObject({ ref: call?.id, machine: 'voice-call' });
  const events = (body['events'] as OperatorEvent[]).map(({ event, to, requestId }) => ({ event, to, requestId }));
  expect(events.toReversed()).toEqual([
    { event: 'CREATE', to: 'creating', requestId: 'req' },
    { event: 'CREATED', to: 'creating', requestId: 'req' },
    { event: 'READY', to: 'open', requestId: 'req' },
    { event: 'CLOSE', to: 'closing', requestId: null },
    { event: 'HANGUP_ANSWERED', to: expect.any(String) as string, requestId: null },
  ]);
  expect(text).not.toContain(session.id);
});

test('A call that the provider ends also ends its session', async () => {
  const { app, provider, session } = await withCall('two');
  provider.sideband.endWith('expired');
  await app.service.heldCalls?.settled();
  expect(await app.sessions.find(session.id)).toMatchObject({ endReason: 'upstream_ended' });
});

test('A page that comes back after 100 seconds goes on with its session; one that does not come back ends it after two minutes', async () => {
  const provider = new FakeBrokeredProvider();
  const app = await build({ brokered: provider });
  const key = await app.key();
  const { id, ticket, origin } = await openBrokered(app, key);
  const attach = async (): Promise<string> => {
    const page = new ChannelClient(app);
    page.say({ type: 'attach', sm_session_id: id, wants: ['call'] });
    return ((await page.hear()) as { resume: string }).resume;
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      app.clock.advance(SECOND);
      await app.service.heldCalls?.renewLease();
      await app.service.heldCalls?.tick();
      await app.service.heldCalls?.settled();
    }
  };
  const leave = async (): Promise<void> => {
    provider.sideband.endWith('remote');
    await app.service.heldCalls?.settled();
  };
  expect((await exchange(app, { ticket, origin })).status).toBe(201);
  const token = await attach();
  await leave();
  await pass(100);
  const next = openedBy(await app.create(key, { resume: token }), origin);
  expect(next.id).toBe(id);
  await attach();
  // The visitor takes a while to answer whether the microphone may be used.
  await pass(25);
  expect((await exchange(app, next)).status).toBe(201);
  await pass(35);
  expect(await app.sessions.find(id)).toMatchObject({ endReason: null });
  await app.sessions.heartbeat(id, app.clock.now(), undefined, () => true);
  await leave();
  await pass(119);
  expect(await app.sessions.find(id)).toMatchObject({ endReason: null });
  await pass(1);
  expect(await app.sessions.find(id)).toMatchObject({ endReason: 'upstream_ended' });
});

test('Speech in a call keeps its session engaged, whatever its page reports', async () => {
  const { app, provider, session } = await withCall('three');
  app.clock.advance(200_000);
  provider.sideband.hear({ type: 'activity' });
  await app.service.heldCalls?.settled();
  expect(await app.sessions.find(session.id)).toMatchObject({ lastActivityAtMs: app.clock.now() });
});

test('Heartbeats count as activity of a session except while one of its calls is heard', async () => {
  const provider = new FakeBrokeredProvider();
  const app = await build({ brokered: provider });
  const key = await app.key();
  const { id: sm_session_id, ticket, origin } = await openBrokered(app, key);
  const beat = async (): Promise<unknown> => {
    app.clock.advance(20_000);
    const { body } = await app.post('/api/realtime/heartbeat', { sm_session_id });
    return (body['session'] as { idleSec: number }).idleSec;
  };
  expect([await beat(), await beat()]).toEqual([0, 0]);
  expect((await exchange(app, { ticket, origin })).status).toBe(201);
  await app.service.heldCalls?.tick();
  await app.service.heldCalls?.settled();
  expect([await beat(), await beat()]).toEqual([20, 40]);
  provider.sideband.hear({ type: 'over', reason: 'remote' });
  await app.service.heldCalls?.settled();
  expect((await app.post('/api/realtime/heartbeat', { sm_session_id })).body).toMatchObject({
    session: { idleSec: 0 },
  });
});

test('The reports of a simulated session count while no call of it is open', async () => {
  const provider = new FakeBrokeredProvider();
  const app = await build({ brokered: provider });
  const { id: sm_session_id, ticket, origin } = await openBrokered(app, await app.key());
  const report = async (): Promise<unknown> =>
    (await app.post('/api/auth/usage', { sm_session_id, tokens: 5, dollars: 0.25 })).body;
  expect(await report()).toMatchObject({ usage: { tokens: 5, dollars: 0.25 } });
  expect(await report()).not.toHaveProperty('counted');
  expect((await exchange(app, { ticket, origin })).status).toBe(201);
  expect(await report()).toMatchObject({ counted: false, usage: { tokens: 10 } });
  provider.sideband.hear({ type: 'over', reason: 'remote' });
  await app.service.heldCalls?.settled();
  expect(await report()).toMatchObject({ usage: { tokens: 15 } });
});

test('A service whose browsers open their calls themselves holds no calls', async () => {
  const app = await build();
  expect(app.service.heldCalls).toBeUndefined();
});
