import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { spanIdOf, traceIdOf } from '../../../src/kernel/trace-context.ts';
import { ATTRIBUTES } from '../../../src/telemetry/traces/session-spans.ts';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import { service, SERVICE_TOKEN, unique, type TestApp, type TestAppOptions } from '../../support/app.ts';
import { MINUTE, SECOND } from '../../support/clock.ts';
import { Collector, orphansOf, type TakenSpan } from '../../support/collector.ts';
import { FakeBrokeredProvider } from '../../support/fake-brokered-provider.ts';
import { answerSdp, offerSdp } from '../../support/provider/sdp.ts';
import { ToolServer } from '../../support/tool-server.ts';
import { useApps } from '../../support/use-apps.ts';
import { anEndpoint } from '../../contracts/webhooks.ts';
import { exchange, openBrokered, openedBy } from '../../http/calls.ts';

const { build } = useApps();

const HEADER_SECRET = 'value-of-the-collectors-key';
const BACK_END = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${BACK_END.traceId}-${BACK_END.spanId}-01`;

let collector: Collector;
let server: ToolServer;

beforeEach(async () => {
  collector = await Collector.start();
  server = await ToolServer.start();
});

afterEach(async () => {
  expect(collector.faults).toEqual([]);
  await collector.close();
  await server.close();
});

function traced(options: Omit<TestAppOptions, 'database'> = {}): Promise<TestApp> {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `api-key=${HEADER_SECRET}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=the%20tests',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    ...options.env,
  };
  return build({ ...options, env });
}

/** Lets a second pass for the node that holds the calls. */
async function pass(app: TestApp): Promise<void> {
  app.clock.advance(SECOND);
  await app.service.heldCalls?.renewLease();
  await app.service.heldCalls?.tick();
  await app.service.heldCalls?.settled();
  await app.flush();
}

/** Lets seconds pass until the session's calls are closed. */
async function closed(app: TestApp, sessionId: string): Promise<void> {
  for (let second = 0; second < 60; second += 1) {
    await pass(app);
    if ((await app.service.calls.ofSession(sessionId)).every(({ state }) => state === 'closed')) return;
  }
  throw new Error('the call is not over');
}

/** Lets the time pass for which a trace waits, and sends what is due. */
async function send(app: TestApp, waitMs = 11 * SECOND): Promise<void> {
  await app.flush();
  await app.service.journalWriter.flush();
  app.clock.advance(waitMs);
  await app.service.traces?.tick();
  app.clock.advance(6 * SECOND);
  await app.service.traces?.tick();
  await app.service.traces?.sent();
}

const refOf = (id: string): string => id.slice(0, 42);
const spansOf = (id: string): TakenSpan[] => collector.spans.filter(({ traceId }) => traceId === traceIdOf(refOf(id)));
const named = (spans: readonly TakenSpan[], name: string): TakenSpan | undefined =>
  spans.find((one) => one.name === name);
const end = (app: TestApp, id: string) => app.post('/api/realtime/end', { sm_session_id: id }, service);

describe('The trace of a session', () => {
  test('is whole: its create, call, responses, tools, hang-up and webhooks, and nothing of it is a secret', async () => {
    const provider = new FakeBrokeredProvider();
    provider.answerSdp = answerSdp(offerSdp({ channel: false }));
    const app = await traced({ brokered: provider });
    const tool = { kind: 'server_tool', name: 'lookup', url: `http://localhost:${server.port}/lookup`, headers: {} };
    const tenantId = unique('tenant');
    const agent = { id: 'teller', model: 'gpt-realtime-2.1', instructions: 'words-of-the-agent', tools: [tool] };
    await app.service.stores.tenants.merge([
      { id: tenantId, name: 'T', agents: [agent] as never, admins: null, keys: [] },
    ]);
    await app.service.directory.reload();
    const types = ['session.started', 'session.ended', 'call.closed'];
    const endpoint = anEndpoint({ tenantId, types, url: `http://localhost:${server.port}/told` });
    await app.service.stores.webhooks.insert(endpoint, 9);
    const key = await app.key({ tenantId });
    const metadata = { note: 'words-of-the-page' };
    const session = await openBrokered(app, key, { agentId: 'teller', email: 'visitor@example.com', metadata });
    app.clock.advance(SECOND);
    expect((await exchange(app, session)).status).toBe(201);
    const { sideband } = provider;
    sideband.hear({
      type: 'usage',
      key: 'resp_of_provider',
      model: undefined,
      tokens: { ...NO_TOKENS, textIn: 100, audioOut: 40 },
    });
    app.clock.advance(SECOND);
    const asked = { callId: 'call_of_provider', name: 'lookup', arguments: '{"order":"words-of-the-visitor"}' };
    sideband.hear({ type: 'toolsAsked', responseId: 'resp_of_provider', calls: [asked] });
    await app.service.heldCalls?.settled();
    await app.service.metering.flush();
    app.clock.advance(SECOND);
    await end(app, session.id);
    await closed(app, session.id);
    await app.service.webhooks.deliveries.tick();
    await app.service.webhooks.deliveries.settled();
    await send(app);

    const spans = spansOf(session.id);
    const names = spans.map(({ name }) => name);
    expect(names[0]).toBe('voice_session');
    expect(new Set(names)).toEqual(
      new Set([
        'voice_session',
        'create',
        'admit',
        'hold',
        'slot',
        'mint',
        'exchange',
        'provider create',
        'attach',
        'call',
        'gen_ai response',
        'execute_tool lookup',
        'hang_up',
        'webhook',
      ]),
    );
    expect(names.filter((name) => name === 'webhook')).toHaveLength(3);
    expect(orphansOf(spans)).toEqual([]);
    const [root] = spans;
    if (root === undefined) throw new Error('no root');
    expect(root.parentSpanId).toBeUndefined();
    for (const { fromNanos, toNanos } of spans)
      expect([fromNanos >= root.fromNanos, toNanos <= root.toNanos]).toEqual([true, true]);
    expect(root.attributes).toMatchObject({
      'gen_ai.conversation.id': refOf(session.id),
      'gen_ai.request.model': 'gpt-realtime-2.1',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 40,
      'switchboard.tenant': tenantId,
      'switchboard.end_reason': 'closed_by_client',
      'switchboard.audio_out': 40,
    });
    expect(named(spans, 'call')?.parentSpanId).toBe(root.spanId);
    expect(named(spans, 'execute_tool lookup')?.parentSpanId).toBe(named(spans, 'call')?.spanId);
    expect(collector.resource).toMatchObject({
      'service.name': 'switchboard',
      'deployment.environment.name': 'the tests',
    });

    const told = server.requests.map(({ headers }) => String(headers['traceparent']));
    const made = spans.filter(({ name }) => name === 'webhook' || name.startsWith('execute_tool'));
    expect(told.sort()).toEqual(made.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort());

    const called = named(spans, 'provider create');
    expect(provider.requests[0]?.traceparent).toBe(`00-${called?.traceId}-${called?.spanId}-01`);

    const { sent, log } = { sent: collector.sent().replaceAll(HEADER_SECRET, ''), log: app.logged() };
    const allowed = new Set<string>(Object.values(ATTRIBUTES));
    expect(spans.flatMap(({ attributes }) => Object.keys(attributes)).filter((name) => !allowed.has(name))).toEqual([]);
    for (const secret of [
      session.id,
      session.ticket,
      SERVICE_TOKEN,
      key.key,
      'words-of',
      'example.com',
      'rtc_',
      'of_provider',
      '127.0.0.1',
      'localhost',
    ])
      expect(sent.replaceAll(/"host":"[^"]*"/g, '')).not.toContain(secret);
    expect(log).not.toContain(HEADER_SECRET);
  });

  test('of a node that was killed is whole, and made by the node that takes its calls', async () => {
    const provider = new FakeBrokeredProvider();
    const one = await traced({ brokered: provider });
    const two = await traced({ brokered: provider, clock: one.clock });
    await one.service.heldCalls?.renewLease();
    const session = await openBrokered(one, await one.key());
    expect((await exchange(one, session)).status).toBe(201);
    await one.flush();
    await one.service.journalWriter.flush();
    // The first node is dead: from here on nothing of it runs.
    for (let second = 0; second < 15; second += 1) await pass(two);
    await end(two, session.id);
    await closed(two, session.id);
    await send(two);
    const spans = spansOf(session.id);
    expect(spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'voice_session',
        'create',
        'mint',
        'exchange',
        'provider create',
        'attach',
        'call',
        'hang_up',
      ]),
    );
    expect(orphansOf(spans)).toEqual([]);
    expect(named(spans, 'call')?.attributes).toMatchObject({ 'switchboard.takeovers': 1 });
    const before = collector.spans.length;
    await send(one);
    expect(collector.spans).toHaveLength(before);
  });

  test('waits for what a page may report where nobody hears its calls, and is made once over all nodes', async () => {
    const app = await traced();
    const other = await traced({ clock: app.clock, live: app.live });
    const id = await app.open(await app.key());
    await end(app, id);
    await send(app, MINUTE);
    expect(spansOf(id)).toEqual([]);
    app.clock.advance(5 * MINUTE);
    await Promise.all([send(app), send(other)]);
    expect(spansOf(id).map(({ name }) => name)).toEqual(['voice_session', 'create', 'admit', 'hold', 'slot', 'mint']);
  });

  test('is made by the next process where the one before stopped', async () => {
    const app = await traced();
    const id = await app.open(await app.key());
    await end(app, id);
    await app.flush();
    const next = await traced({ clock: app.clock, live: app.live });
    await send(next, 6 * MINUTE);
    expect(spansOf(id)).not.toEqual([]);
  });

  test('goes to the address of traces as it is, with its own headers, and the start warns of a protocol that is not spoken', async () => {
    const app = await traced({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9/elsewhere',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-signal=traces',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      },
    });
    const id = await app.open(await app.key());
    await end(app, id);
    await send(app, 6 * MINUTE);
    expect(spansOf(id)).not.toEqual([]);
    expect(collector.requests[0]?.headers).toMatchObject({ 'x-signal': 'traces' });
    expect(collector.sent()).not.toContain(HEADER_SECRET);
    expect(app.logged()).toContain('OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not spoken');
  });

  test('is not there where none is asked for, and then nothing is kept for it', async () => {
    const app = await build();
    expect(app.service.traces).toBeUndefined();
    const id = await app.open(await app.key(), {});
    expect(await app.service.stores.sessionSetups.find(id)).toBeUndefined();
    const sampled = await traced({ env: { OTEL_TRACES_SAMPLER_ARG: '0' } });
    const other = await sampled.open(await sampled.key());
    expect(await sampled.service.stores.sessionSetups.find(other)).toBeUndefined();
  });
});

describe('The traceparent of a create', () => {
  const over = async (app: TestApp, id: string): Promise<void> => {
    await end(app, id);
    await send(app, 6 * MINUTE);
  };
  const idOf = ({ body }: Awaited<ReturnType<TestApp['create']>>): string => String(body['sm_session_id']);

  test('is followed for a back end, whose trace may have several sessions', async () => {
    const app = await traced();
    const [id, other] = [
      idOf(await app.create(await app.key(), {}, { ...service, traceparent })),
      idOf(await app.create(await app.key(), {}, { ...service, traceparent })),
    ];
    await end(app, other);
    await over(app, id);
    const spans = collector.spans.filter(({ traceId }) => traceId === BACK_END.traceId);
    expect(spans.filter(({ name }) => name === 'create')).toHaveLength(2);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    const minted = app.provider.requests.map((request) => String(request.traceparent)).sort();
    const mints = spans.filter(({ name }) => name === 'mint');
    expect(minted).toEqual(mints.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort());
    expect(spans[0]).toMatchObject({ name: 'voice_session', parentSpanId: BACK_END.spanId, links: [] });
    expect(orphansOf(spans, BACK_END.spanId)).toEqual([]);
  });

  test('is a link for a page, unless pages are trusted', async () => {
    const app = await traced();
    const id = idOf(await app.create(await app.key(), {}, { traceparent }));
    await over(app, id);
    expect(spansOf(id)[0]).toMatchObject({ name: 'voice_session', links: [BACK_END] });
    expect(spansOf(id)[0]?.parentSpanId).toBeUndefined();
    const trusting = await traced({ env: { TRUST_TRACEPARENT: 'true' } });
    const other = idOf(await trusting.create(await trusting.key(), {}, { traceparent }));
    await over(trusting, other);
    expect(spansOf(other)).toEqual([]);
    expect(collector.spans.at(-1)?.traceId).toBe(BACK_END.traceId);
  });

  test('is ignored where it is none', async () => {
    const app = await traced();
    const id = idOf(await app.create(await app.key(), {}, { ...service, traceparent: `${traceparent}x` }));
    await over(app, id);
    expect(spansOf(id)[0]).toMatchObject({ name: 'voice_session', links: [] });
  });

  test('that is not sampled is given on to servers, and no spans are made', async () => {
    const app = await traced({ brokered: new FakeBrokeredProvider() });
    const header = traceparent.replace(/01$/, '00');
    const key = await app.key();
    const types = ['session.started'];
    const endpoint = anEndpoint({ tenantId: 'acme', types, url: `http://localhost:${server.port}/told` });
    await app.service.stores.webhooks.insert(endpoint, 9);
    const { id } = openedBy(await app.create(key, {}, { ...service, traceparent: header }), key.origin);
    app.clock.advance(3 * SECOND);
    await app.service.webhooks.deliveries.tick();
    await app.service.webhooks.deliveries.settled();
    const [request] = server.requests;
    const eventId = String(request?.headers['webhook-id']);
    const { traceId } = BACK_END;
    expect(request?.headers['traceparent']).toBe(
      `00-${traceId}-${spanIdOf(traceId, 'webhook', eventId, endpoint.id)}-00`,
    );
    await over(app, id);
    expect(collector.spans).toEqual([]);
    await app.service.stores.webhooks.delete(endpoint.id);
  });
});
