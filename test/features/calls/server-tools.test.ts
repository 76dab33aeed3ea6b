import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { VoiceCalls } from '../../../src/calls/voice-calls.ts';
import type { BusMessage } from '../../../src/protocol/bus.ts';
import type { CallFrame } from '../../../src/protocol/call-frames.ts';
import type { UpstreamEvent } from '../../../src/upstream/contract.ts';
import { answerSdp, offerSdp } from '../../support/provider/sdp.ts';
import { soon } from '../../support/soon.ts';
import { ToolServer, type ToolServerMode } from '../../support/tool-server.ts';
import { CallsWorld, done, SESSION, SIGNING, started } from './calls-world.ts';

const ANSWER = '{"found":true}';

function asks(responseId: string, ...callIds: readonly string[]): UpstreamEvent {
  return asksWith(responseId, ...callIds.map((callId) => ({ callId })));
}

interface ToolAsk {
  readonly callId: string;
  readonly name?: string;
  readonly arguments?: string;
}

function asksWith(responseId: string, ...calls: readonly ToolAsk[]): UpstreamEvent {
  const usual = { name: 'lookup', arguments: '{"order":"A17"}' };
  return { type: 'toolsAsked', responseId, calls: calls.map((call) => ({ ...usual, ...call })) };
}

/** The event that the conversation has taken our answer. */
function taken(callId: string): UpstreamEvent {
  return { type: 'toolAnswered', item: `sb_${callId}`, callId, isDenial: false };
}

describe('Tools of the server', () => {
  let world: CallsWorld;
  let node: VoiceCalls;
  let server: ToolServer;
  let shown: CallFrame[];

  beforeEach(async () => {
    world = await CallsWorld.start();
    server = await ToolServer.start();
    server.mode = { body: ANSWER };
    world.secrets.set('acme/crm', 'value-of-crm');
    useTools({});
    node = await world.addNode();
    shown = [];
    world.bus.subscribe((message: BusMessage) => {
      if (message.type === 'call.shown') shown.push(...message.frames);
    });
  });

  afterEach(() => server.close());

  /** Sets up the session with two tools: one of the server, with `changes`, and one of the page. */
  function useTools(changes: object, dataChannel: 'none' | 'open' = 'none'): void {
    const lookup = {
      kind: 'server_tool',
      name: 'lookup',
      parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      url: `http://tools.test:${server.port}/lookup`,
      headers: { authorization: 'Bearer ${secret:crm}' },
      ...changes,
    };
    const setup = world.setups.get(SESSION);
    if (setup === undefined) throw new Error('no setup');
    const tools = [lookup, { kind: 'client_tool', name: 'show' }];
    world.setups.set(SESSION, { ...setup, dataChannel, tools, metadata: { plan: 'gold' } });
    world.provider.answerSdp = answerSdp(offerSdp({ channel: dataChannel === 'open' }));
  }

  const hear = (...events: readonly UpstreamEvent[]): void => {
    for (const event of events) world.provider.sideband.hear(event);
  };
  const outputs = (): readonly { callId: string; output: string }[] =>
    world.provider.sideband.asked.flatMap((each) => (each.type === 'tool_output' ? [each] : []));
  const responses = (): number => world.provider.sideband.asked.filter(({ type }) => type === 'respond').length;
  const records = (): Promise<readonly ToolCallRecord[]> => world.stores.toolCalls.ofSession(SESSION);
  /** Waits until the model has been told this many answers. @returns the answers */
  async function told(times = 1): Promise<readonly string[]> {
    await vi.waitFor(() => expect(outputs()).toHaveLength(times), soon);
    return outputs().map(({ output }) => output);
  }
  const saved = (...states: readonly ToolCallRecord['state'][]) =>
    vi.waitFor(async () => expect((await records()).map(({ state }) => state)).toEqual(states), soon);
  const usages = () => world.metering.heard.filter((event) => isToolUsage(event));
  const want = (): void =>
    world.bus.publish({ type: 'call.wanted', sessionId: SESSION, node: 'other', isOn: true, tools: [] });

  test('are called with a signed request, and the model gets the answer unchanged', async () => {
    const call = await world.open(node);
    hear(asks('resp_1', 'call_1'));
    expect(await told()).toEqual([ANSWER]);
    expect(outputs()).toEqual([{ id: 'sb_call_1', type: 'tool_output', callId: 'call_1', output: ANSWER }]);
    expect(responses()).toBe(1);
    const [request] = server.requests;
    const { headers = {}, body = '' } = request ?? {};
    expect(request).toMatchObject({ method: 'POST', url: '/lookup' });
    expect(headers).toMatchObject({
      authorization: 'Bearer value-of-crm',
      'content-type': 'application/json',
      'webhook-id': 'call_1',
      'webhook-timestamp': String(Math.floor(world.clock.now() / 1000)),
      'idempotency-key': 'call_1',
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/) as string,
    });
    const key = Buffer.from(SIGNING.slice('whsec_'.length), 'base64');
    const text = `call_1.${headers['webhook-timestamp'] as string}.${body}`;
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(text).digest('base64')}`);
    expect(JSON.parse(body)).toEqual({
      type: 'tool.call',
      timestamp: new Date(world.clock.now()).toISOString(),
      data: {
        tool: 'lookup',
        arguments: { order: 'A17' },
        session: {
          ref: SESSION.slice(0, 42),
          tenantId: 'acme',
          agentId: null,
          agentVersion: null,
          subject: call.subject,
          metadata: { plan: 'gold' },
        },
        call: { ref: call.id },
        context: {},
      },
    });
    await saved('answered');
    expect(await records()).toMatchObject([
      { callId: call.id, toolCallId: 'call_1', name: 'lookup', tries: 1, code: null, bytes: ANSWER.length },
    ]);
  });

  test('of one response run once each, at the same time, and the agent goes on when all are answered', async () => {
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1', 'call_2', 'call_3', 'call_1'), asks('resp_1', 'call_1', 'call_2', 'call_3'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(3), soon);
    expect(outputs()).toEqual([]);
    world.clock.advance(8000);
    world.timers.advance(8000);
    await told(3);
    expect(responses()).toBe(1);
    hear(asks('resp_1', 'call_1', 'call_2', 'call_3'));
    await saved('timed_out', 'timed_out', 'timed_out');
    expect(server.requests).toHaveLength(3);
    expect(outputs()).toHaveLength(3);
  });

  test('take two statements per call, and secrets are read once for many', async () => {
    await world.open(node);
    hear(asks('resp_1', 'call_1'));
    await told();
    await saved('answered');
    const { asked } = world.database;
    const read = world.secretsRead;
    hear(asks('resp_2', 'call_2'));
    await told(2);
    // The save is requested in the same moment as the model is told.
    await Promise.resolve();
    expect(world.database.asked - asked).toBe(2);
    expect(world.secretsRead).toBe(read);
  });

  test('of one response are inserted in one statement', async () => {
    await world.open(node);
    server.mode = 'hang';
    const { asked } = world.database;
    hear(asks('resp_1', 'call_1', 'call_2', 'call_3'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(3), soon);
    expect(world.database.asked - asked).toBe(1);
  });

  test('are answered in time while the database hangs, without a request, however many a response asks for', async () => {
    await world.open(node);
    const release = world.database.holdNextAnswer();
    hear(asks('resp_1', 'call_1', 'call_2', 'call_3'), asks('resp_2', 'call_4'));
    // The insert is requested only after the session has been looked up.
    await new Promise((resolve) => setImmediate(resolve));
    world.clock.advance(8000);
    world.timers.advance(8000);
    expect(await told(4)).toEqual(Array(4).fill('{"error":"timed_out"}'));
    release();
    await saved('timed_out', 'timed_out', 'timed_out', 'timed_out');
    expect([server.requests, world.wrongs]).toEqual([[], []]);
  });

  test.each<[title: string, mode: ToolServerMode, output: string, detail?: string]>([
    ['a text', { type: 'text/plain; charset=utf-8', body: 'On its way.' }, 'On its way.'],
    ['JSON of a kind of its own', { type: 'application/problem+json', body: '{"a":1}' }, '{"a":1}'],
    ['nothing, with success', { status: 204, body: '' }, '{"ok":true}'],
    ['a page', { type: 'text/html', body: '<html>down</html>' }, '{"error":"failed"}', 'content type text/html'],
    ['broken JSON', { body: '{"a":' }, '{"error":"failed"}', 'no JSON that can be read'],
    [
      'bytes that are no text',
      { type: 'text/plain', body: Buffer.from([0xff, 0xfe]) },
      '{"error":"failed"}',
      'no UTF-8',
    ],
    [
      'a type that is none',
      { type: 'x'.repeat(81), body: '{}' },
      '{"error":"failed"}',
      'no content type that is known',
    ],
    ['an error with a sentence', { status: 500, body: '{"secret":"stack"}' }, '{"error":"failed"}', 'status 500'],
    ['a redirect', 'redirect', '{"error":"failed"}', 'redirect 307, which is not followed'],
    ['a megabyte', { body: Buffer.alloc(1024 * 1024, 'x') }, '{"error":"too_large"}'],
    ['without an end', 'endless', '{"error":"too_large"}'],
    ['not at all', 'reset', '{"error":"unreachable"}', 'ECONNRESET'],
  ])('answer %s', async (_title, mode, output, detail) => {
    await world.open(node);
    server.mode = mode;
    server.location = `http://tools.test:${server.port}/other`;
    hear(asks('resp_1', 'call_1'));
    expect(await told()).toEqual([output]);
    expect(responses()).toBe(1);
    expect(server.requests).toHaveLength(1);
    // Operators see what went wrong, but never in the server's own words.
    await vi.waitFor(async () => expect((await records())[0]?.ms).not.toBeNull(), soon);
    expect((await records())[0]?.detail).toBe(detail ?? null);
  });

  test.each<[title: string, args: string]>([
    ['that are no JSON', '{"order":'],
    ['that are no object', '["A17"]'],
    ['without what the tool requires', '{"other":"A17"}'],
    ['of another type', '{"order":17}'],
    ['of 200 kB', `{"order":"${'x'.repeat(200_000)}"}`],
  ])('are not called with arguments %s', async (_title, args) => {
    await world.open(node);
    hear(asksWith('resp_1', { callId: 'call_1', arguments: args }));
    expect(await told()).toEqual(['{"error":"bad_arguments"}']);
    expect(server.requests).toEqual([]);
    await saved('failed');
    expect(await records()).toMatchObject([{ code: 'bad_arguments', tries: 0 }]);
  });

  test('are not called under a name that cannot be a header', async () => {
    await world.open(node);
    hear(asksWith('resp_1', { callId: 'call\r\nx: 1' }));
    expect(await told()).toEqual(['{"error":"bad_arguments"}']);
    expect(server.requests).toEqual([]);
  });

  test('are called only up to the maximum of a session', async () => {
    world.toolsPerSession = 2;
    await world.open(node);
    hear(asks('resp_1', 'call_1', 'call_2', 'call_3'));
    expect((await told(3)).toSorted()).toEqual(['{"error":"too_many"}', ANSWER, ANSWER].toSorted());
    expect(server.requests).toHaveLength(2);
    await saved('answered', 'answered');
  });

  test('are called as far as the budget covers all that run together, and the others cost nothing', async () => {
    useTools({ microDollars: 500 });
    let left = 1000;
    world.budgets.affordable = (_, { microDollars }) => 500 * usages().length + microDollars <= left;
    await world.open(node);
    hear(asks('resp_1', 'call_1', 'call_2', 'call_3'));
    expect((await told(3)).toSorted()).toEqual(['{"error":"too_many"}', ANSWER, ANSWER].toSorted());
    expect(server.requests).toHaveLength(2);
    const states = async () => (await records()).map(({ state }) => state).toSorted();
    await vi.waitFor(async () => expect(await states()).toEqual(['answered', 'answered', 'failed']), soon);
    // Once charged, an amount is no longer reserved.
    left = 1500;
    hear(asks('resp_2', 'call_4'));
    await told(4);
    expect(server.requests).toHaveLength(3);
  });

  test('are no longer called once their call is to end, however long its hang-up takes', async () => {
    await world.open(node);
    const { sideband } = world.provider;
    world.provider.isAway = true;
    world.endSession();
    await world.look();
    expect(await world.call()).toMatchObject({ state: 'closing' });
    sideband.hear(asks('resp_1', 'call_1'));
    await world.look();
    expect([server.requests, await records()]).toEqual([[], []]);
  });

  test('fail without a request if a secret is missing, which operators see without a value', async () => {
    world.secrets.clear();
    await world.open(node);
    hear(asks('resp_1', 'call_1'));
    expect(await told()).toEqual(['{"error":"failed"}']);
    expect(server.requests).toEqual([]);
    await saved('failed');
    expect((await records())[0]?.detail).toBe('secret crm is not set');
    expect(world.logged.join('')).toContain(
      '"event":"tool.secret_missing","tenantId":"acme","tool":"lookup","missing":"crm"',
    );
  });

  test('are not called while the database is away, and running ones are answered', async () => {
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
    world.database.isAway = true;
    hear(asks('resp_2', 'call_2'));
    expect(await told()).toEqual(['{"error":"failed"}']);
    world.clock.advance(8000);
    world.timers.advance(8000);
    expect(await told(2)).toEqual(['{"error":"failed"}', '{"error":"timed_out"}']);
    expect(server.requests).toHaveLength(1);
    world.database.isAway = false;
    await world.pass(250);
    await saved('timed_out');
  });

  test('that a dead node left unanswered are interrupted once each by the node that takes the call', async () => {
    useTools({ microDollars: 500 });
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1', 'call_2'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(2), soon);
    world.kill(node);
    await world.addNode();
    await world.pass(12_000);
    expect((await told(2)).toSorted()).toEqual(['{"error":"interrupted"}', '{"error":"interrupted"}']);
    // The node that died may have left a response running.
    hear({ type: 'conversationIdle' });
    expect(responses()).toBe(0);
    hear(taken('call_1'), taken('call_2'));
    expect(responses()).toBe(1);
    expect(await records()).toMatchObject([
      { state: 'failed', code: 'interrupted', fence: 2 },
      { state: 'failed', code: 'interrupted', fence: 2 },
    ]);
    expect(world.metering.heard.filter((event) => isToolUsage(event))).toHaveLength(2);
    await world.pass(1000);
    expect(outputs()).toHaveLength(2);
  });

  test.each([
    ['no second time, where that node had answered all', [], 0],
    ['where that node had answered some', ['call_2'], 1],
  ])(
    'of a node that dies before it saves its answers: the node that takes the call has the agent go on %s',
    async (...of) => {
      const [, fresh, expected] = of;
      await world.open(node);
      server.mode = 'hang';
      hear(asks('resp_1', 'call_1', 'call_2'));
      await vi.waitFor(() => expect(server.requests).toHaveLength(2), soon);
      world.kill(node);
      await world.addNode();
      await world.pass(12_000);
      await told(2);
      // The provider refuses an answer that the conversation already has with an error, which nobody is told.
      hear({ type: 'conversationIdle' }, ...fresh.map(taken));
      await world.pass(1000);
      expect(responses()).toBe(expected);
    },
  );

  test('are saved as over only once the provider has been told, so that no answer dies with its node', async () => {
    world.unheardSec = 300;
    node = await world.addNode();
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
    for (const each of world.nodes) world.kill(each);
    const taker = await world.addNode();
    world.provider.isAway = true;
    await world.pass(12_000);
    expect(await world.call()).toMatchObject({ fence: 2 });
    await saved('running');
    world.kill(taker);
    world.provider.isAway = false;
    await world.addNode();
    await world.pass(12_000);
    expect(await told()).toEqual(['{"error":"interrupted"}']);
    await saved('failed');
  });

  test('get the back end’s context and the agent’s version, even from a node that takes the call, and nobody else does', async () => {
    const setup = world.setups.get(SESSION);
    if (setup === undefined) throw new Error('no setup');
    const context = { customer: 'known-to-tools-alone' };
    const sealedContext = world.contexts.seal(JSON.stringify(context), SESSION).toString('base64');
    world.setups.set(SESSION, { ...setup, sealedContext, agentVersion: '4f1c0e8b7d2a' });
    want();
    await world.open(node);
    hear(asks('resp_1', 'call_1'));
    expect(await told()).toEqual([ANSWER]);
    world.kill(node);
    await world.addNode();
    await world.pass(12_000);
    hear(asks('resp_2', 'call_2'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(2), soon);
    for (const { body } of server.requests)
      expect(JSON.parse(body)).toMatchObject({ data: { context, session: { agentVersion: '4f1c0e8b7d2a' } } });
    const others = [shown, world.provider.sideband.asked, await records()];
    expect(JSON.stringify(others)).not.toContain(context.customer);
  });

  test('whose sealed context cannot be opened are answered as failed, without a request', async () => {
    const setup = world.setups.get(SESSION);
    if (setup === undefined) throw new Error('no setup');
    // This context is sealed for another session.
    const sealedContext = world.contexts.seal('{"customer":"other"}', 'other').toString('base64');
    world.setups.set(SESSION, { ...setup, sealedContext });
    await world.open(node);
    hear(asks('resp_1', 'call_1'));
    expect(await told()).toEqual(['{"error":"failed"}']);
    expect(server.requests).toEqual([]);
  });

  describe('whose server wants the session to end', () => {
    const ends = (reason: unknown, more: object = {}) => ({
      body: JSON.stringify({ ...more, switchboard: { end: { reason } } }),
    });
    const speech = (isOn: boolean): UpstreamEvent => ({ type: 'speech', who: 'agent', isOn, responseId: 'last' });
    const say = (): void => hear(started('last'), speech(true), done('last'));
    const isOver = (): Promise<void> =>
      vi.waitFor(async () => {
        await world.pass(250);
        expect(world.sessions.get(SESSION)).toMatchObject({ endReason: 'closed_by_tool' });
      }, soon);
    const goesOn = async (): Promise<void> => {
      await world.pass(62_000);
      expect(await world.call()).toMatchObject({ state: 'open' });
      expect((await records()).every(({ endReason }) => endReason === null)).toBe(true);
    };

    test('have the agent say its last words; operators see the reason, and the model sees nothing of it', async () => {
      await world.open(node);
      server.mode = ends('order_closed', { order: 'closed' });
      hear(asks('resp_1', 'call_1'));
      expect(await told()).toEqual(['{"order":"closed"}']);
      // The answer was saved before the model was told.
      expect(await records()).toMatchObject([{ state: 'answered', endReason: 'order_closed' }]);
      expect(responses()).toBe(1);
      say();
      await world.pass(5000);
      expect(await world.call()).toMatchObject({ state: 'open' });
      hear(speech(false));
      await isOver();
      expect(await world.call()).toMatchObject({ closeReason: 'tool_ended' });
      expect(JSON.stringify([shown, world.provider.sideband.asked])).not.toContain('order_closed');
      expect(world.wrongs).toEqual([]);
    });

    test.each([
      ['which then does not end', { end: { reason: 'order_closed' } }],
      ['also of fields that we do not know', { other: true }],
    ])('are answered as failed if the rest of the answer cannot be written again (%s)', async (_, switchboard) => {
      await world.open(node);
      server.mode = {
        body: `{"switchboard":${JSON.stringify(switchboard)},"deep":${'['.repeat(8000)}${']'.repeat(8000)}}`,
      };
      hear(asks('resp_1', 'call_1'));
      expect(await told()).toEqual(['{"error":"failed"}']);
      expect(responses()).toBe(1);
      await saved('failed');
      await goesOn();
    });

    test('end it once, however many tools of one response want it', async () => {
      await world.open(node);
      server.mode = ends('order_closed');
      hear(asks('resp_1', 'call_1', 'call_2'));
      await told(2);
      expect(responses()).toBe(1);
      expect(await records()).toMatchObject([{ endReason: 'order_closed' }, { endReason: 'order_closed' }]);
      say();
      hear(speech(false));
      await isOver();
    });

    test('end it once the page’s tools of the same response are answered as well', async () => {
      await world.open(node);
      want();
      server.mode = ends('order_closed');
      hear(asksWith('resp_1', { callId: 'call_1' }, { callId: 'call_2', name: 'show' }));
      await told();
      await world.pass(20_000);
      expect(responses()).toBe(0);
      const frame = { type: 'tool_result', id: 'call_2', output: 'shown' } as const;
      const untilMs = world.clock.now() + 2000;
      world.bus.publish({ type: 'call.asked', sessionId: SESSION, request: 'r', untilMs, frame });
      expect(responses()).toBe(1);
      say();
      await world.pass(50_000);
      expect(await world.call()).toMatchObject({ state: 'open' });
      hear(speech(false));
      await isOver();
    });

    test('end it even if the page answers another tool last, and has the agent go on or not', async () => {
      useTools({}, 'open');
      await world.open(node);
      server.mode = ends('order_closed');
      hear(asksWith('resp_1', { callId: 'call_1' }, { callId: 'call_2', name: 'show' }));
      await told();
      const [{ id: item = '' } = {}] = outputs() as readonly { id?: string }[];
      hear({ type: 'toolAnswered', item, callId: 'call_1', isDenial: false });
      hear({ type: 'toolAnswered', item: 'item_page', callId: 'call_2', isDenial: false });
      expect(responses()).toBe(0);
      await world.pass(59_000);
      expect(await world.call()).toMatchObject({ state: 'open' });
      await world.pass(1250);
      await isOver();
    });

    test('end it even if the call’s node died during the last words', async () => {
      await world.open(node);
      server.mode = ends('order_closed');
      hear(asks('resp_1', 'call_1'));
      expect(await told()).toEqual(['{"ok":true}']);
      world.kill(node);
      await world.addNode();
      await world.pass(12_000);
      // An answer may be sent again under the same id, because the provider accepts no second item with it.
      expect(outputs()).toMatchObject([{ id: 'sb_call_1', output: '{"error":"interrupted"}' }]);
      await vi.waitFor(async () => {
        await world.pass(10_000);
        expect(world.sessions.get(SESSION)).toMatchObject({ endReason: 'closed_by_tool' });
      }, soon);
    });

    test('cannot be escaped with another call of the session, however the former one ends', async () => {
      await world.open(node);
      server.mode = ends('order_closed');
      hear(asks('resp_1', 'call_1'));
      await told();
      await world.pass(1000);
      expect(await world.refusal(world.ask(node))).toBe('SESSION_DURATION_EXCEEDED');
      expect(world.sessions.get(SESSION)).toMatchObject({ endReason: 'closed_by_tool' });
      await world.pass(2000);
      const calls = await world.stores.calls.ofSession(SESSION);
      expect(calls.map(({ state }) => state)).toEqual(['closed', 'closed']);
    });

    test('cannot be escaped with another call that is requested just before they are answered', async () => {
      await world.open(node);
      server.mode = 'hang';
      hear(asks('resp_1', 'call_1'));
      await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
      // The answer is saved just as the new call closes the former one.
      world.beforeSave = async ({ closeReason }) => {
        const [record] = await records();
        if (closeReason !== 'replaced' || record?.state !== 'running') return;
        const answered = {
          ...record,
          state: 'answered',
          endReason: 'order_closed',
          version: record.version + 1,
        } as const;
        await world.stores.toolCalls.save(answered, record.version);
      };
      expect(await world.refusal(world.ask(node))).toBe('SESSION_DURATION_EXCEEDED');
      expect(world.sessions.get(SESSION)).toMatchObject({ endReason: 'closed_by_tool' });
    });

    test.each([[''], ['x'.repeat(65)], ['two words'], [7], [null]])(
      'must give a reason word, which %j is not, and the model is told nothing that Switchboard does not know',
      async (reason) => {
        await world.open(node);
        server.mode = ends(reason, { a: 1 });
        hear(asks('resp_1', 'call_1'));
        expect(await told()).toEqual(['{"a":1}']);
        await saved('answered');
        await goesOn();
      },
    );

    test.each([
      ['of a failure', { ...ends('x'), status: 500 }, '{"error":"failed"}'],
      ['of a text', { ...ends('x'), type: 'text/plain' }, ends('x').body],
      ['in a list', { body: `[${ends('x').body}]` }, `[${ends('x').body}]`],
      ['deeper in it', { body: `{"a":${ends('x').body}}` }, `{"a":${ends('x').body}}`],
    ])('must say so in an answer that is passed on: not %s', async (_, mode, output) => {
      await world.open(node);
      server.mode = mode;
      hear(asks('resp_1', 'call_1'));
      expect(await told()).toEqual([output]);
      await goesOn();
    });

    test('must be server tools: a page’s answer is passed on unchanged, from a frame or its data channel', async () => {
      await world.open(node);
      want();
      hear(asksWith('resp_1', { callId: 'call_1', name: 'show' }));
      const frame = { type: 'tool_result', id: 'call_1', output: JSON.parse(ends('x').body) as unknown } as const;
      const untilMs = world.clock.now() + 2000;
      world.bus.publish({ type: 'call.asked', sessionId: SESSION, request: 'r', untilMs, frame });
      expect(await told()).toEqual([ends('x').body]);
      server.mode = 'hang';
      hear(asks('resp_2', 'call_2'));
      hear({ type: 'toolAnswered', item: 'item_page', callId: 'call_2', isDenial: false });
      say();
      hear(speech(false));
      await goesOn();
    });

    test('are no longer called once it has ended, and end it once', async () => {
      await world.open(node);
      server.mode = 'hang';
      hear(asks('resp_1', 'call_1'));
      await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
      world.endSession();
      await world.pass(2000);
      await saved('dropped');
      server.mode = ends('late');
      hear(asks('resp_2', 'call_2'));
      await world.pass(2000);
      expect(server.requests).toHaveLength(1);
      expect(world.sessions.get(SESSION)).toMatchObject({ endReason: 'closed_by_client' });
    });
  });

  describe('whose sideband breaks during their answer', () => {
    const taken = (...callIds: readonly string[]): void =>
      hear(
        ...callIds.map((callId) => ({ type: 'toolAnswered', item: `sb_${callId}`, callId, isDenial: false }) as const),
      );
    /** Breaks the sideband. @returns a function that lists what the next sideband has been asked */
    async function breaks() {
      const before = world.provider.sideband;
      before.close();
      await vi.waitFor(async () => {
        await world.pass(250);
        expect(world.provider.sideband).not.toBe(before);
      }, soon);
      await world.pass(250);
      return () => world.provider.sideband.asked.map((each) => ('callId' in each ? each.callId : each.type));
    }

    test('send it again under the same id, and have the agent go on only if the conversation did not have it', async () => {
      await world.open(node);
      hear(asks('resp_1', 'call_1', 'call_2'));
      await told(2);
      const asked = await breaks();
      expect(asked()).toEqual(['call_1', 'call_2']);
      expect(outputs()).toMatchObject([{ id: 'sb_call_1', output: ANSWER }, { id: 'sb_call_2' }]);
      taken('call_1');
      expect(asked()).toEqual(['call_1', 'call_2']);
      taken('call_2', 'call_2');
      expect(asked()).toEqual(['call_1', 'call_2', 'respond']);
      hear(started('resp_2'), done('resp_2'));
      expect((await breaks())()).toEqual([]);
      expect(await records()).toMatchObject([{ state: 'answered' }, { state: 'answered' }]);
      expect(server.requests).toHaveLength(2);
    });

    test('send nothing again that the conversation has, and the agent is not asked to say it twice', async () => {
      await world.open(node);
      hear(asks('resp_1', 'call_1', 'call_2'));
      await told(2);
      taken('call_1', 'call_2');
      expect((await breaks())()).toEqual([]);
    });

    test('have the agent go on once if it was still to finish speaking', async () => {
      await world.open(node);
      hear(asks('resp_1', 'call_1'), started('resp_2'));
      await told();
      expect(responses()).toBe(0);
      world.provider.sideband.answerCancel = () => undefined;
      const asked = await breaks();
      hear(done('resp_2'));
      taken('call_1');
      hear(started('resp_3'), done('resp_3'));
      expect(asked()).toEqual(['call_1', 'respond']);
    });
  });

  test('have a few seconds when their node stops, and are then answered as interrupted', async () => {
    await world.addNode();
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
    const { sideband } = world.provider;
    const stopping = node.stop();
    world.timers.advance(4999);
    expect(sideband.asked).toEqual([]);
    world.timers.advance(1);
    await stopping;
    expect(sideband.asked).toMatchObject([
      { type: 'tool_output', output: '{"error":"interrupted"}' },
      { type: 'respond' },
    ]);
    expect(await records()).toMatchObject([{ state: 'failed', code: 'interrupted' }]);
  });

  test('cannot be answered by a page', async () => {
    await world.open(node);
    server.mode = 'hang';
    const codes: (string | null)[] = [];
    world.bus.subscribe((message) => void (message.type === 'call.answered' && codes.push(message.code)));
    hear(asks('resp_1', 'call_1'));
    const untilMs = world.clock.now() + 2000;
    const frame = { type: 'tool_result', id: 'call_1', output: 'forged' } as const;
    world.bus.publish({ type: 'call.asked', sessionId: SESSION, request: 'r', untilMs, frame });
    expect(codes).toEqual(['TOOL_UNKNOWN']);
    expect(outputs()).toEqual([]);
  });

  test('run beside those of the page, which the agent awaits as well', async () => {
    await world.open(node);
    want();
    hear(asksWith('resp_1', { callId: 'call_1' }, { callId: 'call_2', name: 'show' }));
    await told();
    expect(responses()).toBe(0);
    const frame = { type: 'tool_result', id: 'call_2', output: 'shown' } as const;
    const untilMs = world.clock.now() + 2000;
    world.bus.publish({ type: 'call.asked', sessionId: SESSION, request: 'r', untilMs, frame });
    expect(responses()).toBe(1);
  });

  describe('beside a tool of a page with a data channel, which answers it there', () => {
    beforeEach(async () => {
      useTools({}, 'open');
      await world.open(node);
      hear(asksWith('resp_1', { callId: 'call_1' }, { callId: 'call_2', name: 'show' }));
      expect(await told()).toEqual([ANSWER]);
      expect(outputs()).toMatchObject([{ callId: 'call_1' }]);
    });

    const answered = (item: string, callId: string): void =>
      hear({ type: 'toolAnswered', item, callId, isDenial: false });
    const ours = (): string => (outputs() as readonly { id?: string }[])[0]?.id ?? '';

    test('have the agent go on if the conversation took their answer last', () => {
      answered('item_page', 'call_2');
      expect(responses()).toBe(0);
      answered(ours(), 'call_1');
      expect(responses()).toBe(1);
    });

    test('leave that to the page if its answer was taken last, and a forged one changes nothing', async () => {
      answered('item_forged', 'call_1');
      answered(ours(), 'call_1');
      answered('item_page', 'call_2');
      await world.pass(31_000);
      expect(responses()).toBe(0);
    });

    test('have the agent go on after half a minute if the page does not answer', async () => {
      answered(ours(), 'call_1');
      await world.pass(29_000);
      expect(responses()).toBe(0);
      await world.pass(1000);
      expect(responses()).toBe(1);
    });

    test('have the agent go on when their node hands the call over', async () => {
      answered(ours(), 'call_1');
      await world.addNode();
      const { sideband } = world.provider;
      await node.stop();
      expect(sideband.asked.filter(({ type }) => type === 'respond')).toHaveLength(1);
    });

    test('have the agent go on at once if the page had answered before', async () => {
      answered('item_page', 'call_4');
      hear(asksWith('resp_2', { callId: 'call_3' }, { callId: 'call_4', name: 'show' }));
      await told(2);
      expect(responses()).toBe(1);
    });
  });

  describe('of a page with a data channel', () => {
    const removed = (): unknown[] => world.provider.sideband.asked.filter(({ type }) => type === 'delete');
    const forge = (item: string, callId: string, isDenial = false): void =>
      hear({ type: 'toolAnswered', item, callId, isDenial });

    beforeEach(async () => {
      useTools({}, 'open');
      await world.open(node);
    });

    test('are answered under an id that the page cannot guess, and any other answer is removed and counted', async () => {
      hear(asks('resp_1', 'call_1'));
      await told();
      const [{ id = '' } = {}] = outputs() as readonly { id?: string }[];
      expect(id).toMatch(/^sb_[\w-]{29}$/);
      expect(id).not.toContain('call_1');
      forge(id, 'call_1');
      expect(removed()).toEqual([]);
      forge('item_page', 'call_1');
      expect(removed()).toEqual([{ type: 'delete', id: 'item_page' }]);
      expect(await world.metrics.registry.metrics()).toContain('switchboard_tool_answers_forged_total 1');
    });

    test('are not answered by a page that is faster than the end of the response', async () => {
      forge('item_early', 'call_1');
      expect(removed()).toEqual([]);
      hear(asks('resp_1', 'call_1'));
      expect(removed()).toEqual([{ type: 'delete', id: 'item_early' }]);
    });

    test('may be denied by the page’s SDK once per call, which is removed and does not count as forgery', async () => {
      const calls = ['call_1', 'call_2', 'call_3', 'call_4'];
      hear(asks('resp_1', ...calls));
      await told(4);
      for (const callId of calls) forge(`item_${callId}`, callId, true);
      await world.pass(1250);
      expect(removed()).toHaveLength(4);
      expect(await world.call()).toMatchObject({ state: 'open' });
      for (const callId of calls) forge(`item_${callId}_again`, callId, true);
      await world.pass(1250);
      expect(await world.call()).toMatchObject({ closeReason: 'tool_forged' });
    });

    test('keep their answers: the third forged or removed answer closes the call and ends its session', async () => {
      hear(asks('resp_1', 'call_1'));
      await told();
      const [{ id = '' } = {}] = outputs() as readonly { id?: string }[];
      forge('item_1', 'call_1');
      hear({ type: 'itemRemoved', item: 'item_1' }, { type: 'itemRemoved', item: id });
      await world.look();
      expect(await world.call()).toMatchObject({ state: 'open' });
      forge('item_2', 'call_1');
      await world.pass(1250);
      expect(await world.call()).toMatchObject({ closeReason: 'tool_forged' });
      expect(world.sessions.get(SESSION)).toMatchObject({ endReason: 'upstream_ended' });
    });

    test('are not answered by an item under the id of ours after the page removed that', async () => {
      hear(asks('resp_1', 'call_1'));
      await told();
      const [{ id = '' } = {}] = outputs() as readonly { id?: string }[];
      hear({ type: 'itemRemoved', item: id });
      forge(id, 'call_1');
      expect(removed()).toEqual([{ type: 'delete', id }]);
    });

    test('are not confused by many answers that nobody asked for', async () => {
      for (let n = 0; n < 67; n += 1) forge(`item_${n}`, `call_of_nobody_${n}`);
      await world.pass(1250);
      expect(await world.call()).toMatchObject({ closeReason: 'tool_forged' });
    });

    test('cannot be answered by a page after another node took the call, whether they ran or were answered', async () => {
      hear(asks('resp_1', 'call_1'));
      await told();
      await saved('answered');
      server.mode = 'hang';
      hear(asks('resp_2', 'call_2'));
      await vi.waitFor(() => expect(server.requests).toHaveLength(2), soon);
      world.kill(node);
      await world.addNode();
      await world.pass(12_000);
      forge('item_1', 'call_1');
      forge('item_2', 'call_2');
      expect(removed()).toEqual([
        { type: 'delete', id: 'item_1' },
        { type: 'delete', id: 'item_2' },
      ]);
      for (const { id = '', callId } of outputs() as readonly { id?: string; callId: string }[]) forge(id, callId);
      expect(removed()).toHaveLength(2);
    });

    test('do not affect answers to the page’s own tools', async () => {
      hear(asksWith('resp_1', { callId: 'call_1', name: 'show' }));
      for (let n = 0; n < 100; n += 1) forge(`item_${n}`, 'call_1');
      await world.pass(1250);
      expect(removed()).toEqual([]);
      expect(await world.call()).toMatchObject({ state: 'open' });
    });
  });

  test('are shown to pages while one is running', async () => {
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1'));
    shown = [];
    want();
    expect(shown).toContainEqual({ type: 'thinking', on: true, tool: 'lookup' });
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
    shown = [];
    world.clock.advance(8000);
    world.timers.advance(8000);
    await told();
    await vi.waitFor(() => expect(shown).toEqual([{ type: 'thinking', on: false }]), soon);
    expect(JSON.stringify(shown)).not.toMatch(/tools\.test|crm/);
  });

  test('that take long are bridged with words, once for all that are running', async () => {
    useTools({ say: 'One moment.' });
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1', 'call_2'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(2), soon);
    expect(world.provider.sideband.asked).toEqual([]);
    world.timers.advance(1500);
    expect(world.provider.sideband.asked).toEqual([
      { type: 'message', role: 'system', text: 'lookup takes a moment to answer. Until then say only: One moment.' },
      { type: 'respond', instructions: null },
    ]);
  });

  test('cost what their definition says if their server was reached, and nothing otherwise', async () => {
    useTools({ microDollars: 1500 });
    await world.open(node);
    server.mode = 'reset';
    hear(asks('resp_1', 'call_1'));
    await told();
    expect(usages()).toEqual([]);
    server.mode = { status: 500, body: '' };
    hear(asks('resp_2', 'call_2'));
    await told(2);
    expect(usages()).toEqual([{ type: 'usageTool', key: 'call_2', microDollars: 1500 }]);
  });

  test('are saved as over only once their price is counted, so that the next node counts it if one dies in between', async () => {
    useTools({ microDollars: 1500 });
    await world.open(node);
    world.metering.isAway = true;
    hear(asks('resp_1', 'call_1'));
    await told();
    await world.look();
    await saved('running');
    world.kill(node);
    world.metering.isAway = false;
    await world.addNode();
    await world.pass(12_000);
    await saved('failed');
    const priced = { type: 'usageTool', key: 'call_1', microDollars: 1500 };
    expect(usages()).toEqual([priced, priced]);
  });

  test('are dropped with their call, which no longer waits for an answer', async () => {
    await world.open(node);
    server.mode = 'hang';
    hear(asks('resp_1', 'call_1'));
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
    world.endSession();
    await world.pass(2000);
    await saved('dropped');
    expect(outputs()).toEqual([]);
    expect(world.wrongs).toEqual([]);
  });

  test('are counted by their outcome', async () => {
    await world.open(node);
    hear(asks('resp_1', 'call_1'));
    await told();
    const metrics = await world.metrics.registry.metrics();
    expect(metrics).toContain('switchboard_tool_calls_total{tool="lookup",code="answered"} 1');
    expect(metrics).toContain('switchboard_tool_call_seconds_count{code="answered"} 1');
  });
});

function isToolUsage(event: unknown): boolean {
  return (event as { readonly type?: unknown }).type === 'usageTool';
}
