import { createHmac } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { soon } from '../../support/soon.ts';
import type { ToolServerMode } from '../../support/tool-server.ts';
import { done, node, SESSION, SIGNING, started, world } from './calls-world.ts';
import {
  ANSWER,
  answered,
  answerOfPage,
  ask,
  INTERRUPTED,
  openWithHanging,
  outputs,
  records,
  responses,
  saved,
  server,
  takeOver,
  timeOut,
  told,
  usages,
  useToolServer,
  useTools,
} from './tool-calls.ts';

describe('Tools of the server', () => {
  useToolServer();

  test('are called with a signed request, and the model gets the answer unchanged', async () => {
    const call = await world.open(node);
    ask('resp_1', 'call_1');
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
    await openWithHanging(['call_1', 'call_2', 'call_3', 'call_1']);
    ask('resp_1', 'call_1', 'call_2', 'call_3');
    expect(outputs()).toEqual([]);
    timeOut();
    await told(3);
    expect(responses()).toBe(1);
    ask('resp_1', 'call_1', 'call_2', 'call_3');
    await saved('timed_out', 'timed_out', 'timed_out');
    expect(server.requests).toHaveLength(3);
    expect(outputs()).toHaveLength(3);
  });

  test('take two statements per call, and secrets are read once for many', async () => {
    await world.open(node);
    ask('resp_1', 'call_1');
    await told();
    await saved('answered');
    const { asked } = world.database;
    const read = world.secretsRead;
    ask('resp_2', 'call_2');
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
    ask('resp_1', 'call_1', 'call_2', 'call_3');
    await vi.waitFor(() => expect(server.requests).toHaveLength(3), soon);
    expect(world.database.asked - asked).toBe(1);
  });

  test('are answered in time while the database hangs, without a request, however many a response asks for', async () => {
    await world.open(node);
    const release = world.database.holdNextAnswer();
    ask('resp_1', 'call_1', 'call_2', 'call_3');
    ask('resp_2', 'call_4');
    // The insert is requested only after the session has been looked up.
    await new Promise((resolve) => setImmediate(resolve));
    timeOut();
    expect(await told(4)).toEqual(Array(4).fill('{"error":"timed_out"}'));
    release();
    await saved('timed_out', 'timed_out', 'timed_out', 'timed_out');
    expect([server.requests, world.wrongs]).toEqual([[], []]);
  });

  const replies: readonly [title: string, mode: ToolServerMode, output: string, detail?: string][] = [
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
  ];

  test('may answer anything: texts and JSON are passed on, and operators see what was wrong with anything else', async () => {
    await world.open(node);
    server.location = `http://tools.test:${server.port}/other`;
    for (const [n, [title, mode, output]] of replies.entries()) {
      server.mode = mode;
      ask(`resp_${n}`, `call_${n}`);
      expect([title, (await told(n + 1)).at(-1)]).toEqual([title, output]);
      expect([title, responses(), server.requests.length]).toEqual([title, n + 1, n + 1]);
      world.hear(started(`next_${n}`), done(`next_${n}`));
    }
    // Operators see what went wrong, but never in the server's own words.
    const details = async () =>
      new Map((await records()).map((one) => [one.toolCallId, one.ms !== null && one.detail]));
    const expected = new Map(replies.map(([, , , detail = null], n) => [`call_${n}`, detail]));
    await vi.waitFor(async () => expect(await details()).toEqual(expected), soon);
  });

  const mistakes: readonly [title: string, args: string][] = [
    ['that are no JSON', '{"order":'],
    ['that are no object', '["A17"]'],
    ['without what the tool requires', '{"other":"A17"}'],
    ['of another type', '{"order":17}'],
    ['of 200 kB', `{"order":"${'x'.repeat(200_000)}"}`],
  ];

  test('are not called with arguments that are not what the tool takes', async () => {
    await world.open(node);
    for (const [n, [, args]] of mistakes.entries()) ask(`resp_${n}`, { callId: `call_${n}`, arguments: args });
    expect(await told(mistakes.length)).toEqual(mistakes.map(() => '{"error":"bad_arguments"}'));
    expect(server.requests).toEqual([]);
    await saved(...mistakes.map(() => 'failed' as const));
    expect(await records()).toMatchObject(mistakes.map(() => ({ code: 'bad_arguments', tries: 0 })));
  });

  test('are not called under a name that cannot be a header', async () => {
    await world.open(node);
    ask('resp_1', { callId: 'call\r\nx: 1' });
    expect(await told()).toEqual(['{"error":"bad_arguments"}']);
    expect(server.requests).toEqual([]);
  });

  test('are called only up to the maximum of a session', async () => {
    world.toolsPerSession = 2;
    await world.open(node);
    ask('resp_1', 'call_1', 'call_2', 'call_3');
    expect((await told(3)).toSorted()).toEqual(['{"error":"too_many"}', ANSWER, ANSWER].toSorted());
    expect(server.requests).toHaveLength(2);
    await saved('answered', 'answered');
  });

  test('are called as far as the budget covers all that run together, and the others cost nothing', async () => {
    useTools({ microDollars: 500 });
    let left = 1000;
    world.budgets.affordable = (_, { microDollars }) => 500 * usages().length + microDollars <= left;
    await world.open(node);
    ask('resp_1', 'call_1', 'call_2', 'call_3');
    expect((await told(3)).toSorted()).toEqual(['{"error":"too_many"}', ANSWER, ANSWER].toSorted());
    expect(server.requests).toHaveLength(2);
    const states = async () => (await records()).map(({ state }) => state).toSorted();
    await vi.waitFor(async () => expect(await states()).toEqual(['answered', 'answered', 'failed']), soon);
    // Once charged, an amount is no longer reserved.
    left = 1500;
    ask('resp_2', 'call_4');
    await told(4);
    expect(server.requests).toHaveLength(3);
  });

  test('are no longer called once their call is to end, however long its hang-up takes', async () => {
    await world.open(node);
    world.provider.isAway = true;
    world.endSession();
    await world.look();
    expect(await world.call()).toMatchObject({ state: 'closing' });
    ask('resp_1', 'call_1');
    await world.look();
    expect([server.requests, await records()]).toEqual([[], []]);
  });

  test('fail without a request if a secret is missing, which operators see without a value', async () => {
    world.secrets.clear();
    await world.open(node);
    ask('resp_1', 'call_1');
    expect(await told()).toEqual(['{"error":"failed"}']);
    expect(server.requests).toEqual([]);
    await saved('failed');
    expect((await records())[0]?.detail).toBe('secret crm is not set');
    expect(world.logged.join('')).toContain(
      '"event":"tool.secret_missing","tenantId":"acme","tool":"lookup","missing":"crm"',
    );
  });

  test('are not called while the database is away, and running ones are answered', async () => {
    await openWithHanging(['call_1']);
    world.database.isAway = true;
    ask('resp_2', 'call_2');
    expect(await told()).toEqual(['{"error":"failed"}']);
    timeOut();
    expect(await told(2)).toEqual(['{"error":"failed"}', '{"error":"timed_out"}']);
    expect(server.requests).toHaveLength(1);
    world.database.isAway = false;
    await world.pass(250);
    await saved('timed_out');
  });

  test('that a dead node left unanswered are interrupted once each by the node that takes the call', async () => {
    useTools({ microDollars: 500 });
    await openWithHanging(['call_1', 'call_2']);
    await takeOver();
    expect((await told(2)).toSorted()).toEqual([INTERRUPTED, INTERRUPTED]);
    // The node that died may have left a response running.
    world.hear({ type: 'conversationIdle' });
    expect(responses()).toBe(0);
    world.hear(answered('call_1'), answered('call_2'));
    expect(responses()).toBe(1);
    expect(await records()).toMatchObject([
      { state: 'failed', code: 'interrupted', fence: 2 },
      { state: 'failed', code: 'interrupted', fence: 2 },
    ]);
    expect(usages()).toHaveLength(2);
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
      await openWithHanging(['call_1', 'call_2']);
      await takeOver();
      await told(2);
      // The provider refuses an answer that the conversation already has with an error, which nobody is told.
      world.hear({ type: 'conversationIdle' }, ...fresh.map((callId) => answered(callId)));
      await world.pass(1000);
      expect(responses()).toBe(expected);
    },
  );

  test('are saved as over only once the provider has been told, so that no answer dies with its node', async () => {
    world.unheardSec = 300;
    await openWithHanging(['call_1'], await world.addNode());
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
    expect(await told()).toEqual([INTERRUPTED]);
    await saved('failed');
  });

  test('get the back end’s context and the agent’s version, even from a node that takes the call, and nobody else does', async () => {
    const context = { customer: 'known-to-tools-alone' };
    const sealedContext = world.contexts.seal(JSON.stringify(context), SESSION).toString('base64');
    world.setUp({ sealedContext, agentVersion: '4f1c0e8b7d2a' });
    world.want();
    await world.open(node);
    ask('resp_1', 'call_1');
    expect(await told()).toEqual([ANSWER]);
    await takeOver();
    ask('resp_2', 'call_2');
    await vi.waitFor(() => expect(server.requests).toHaveLength(2), soon);
    for (const { body } of server.requests)
      expect(JSON.parse(body)).toMatchObject({ data: { context, session: { agentVersion: '4f1c0e8b7d2a' } } });
    const others = [world.shown, world.sideband.asked, await records()];
    expect(JSON.stringify(others)).not.toContain(context.customer);
  });

  test('whose sealed context cannot be opened are answered as failed, without a request', async () => {
    // This context is sealed for another session.
    const sealedContext = world.contexts.seal('{"customer":"other"}', 'other').toString('base64');
    world.setUp({ sealedContext });
    await world.open(node);
    ask('resp_1', 'call_1');
    expect(await told()).toEqual(['{"error":"failed"}']);
    expect(server.requests).toEqual([]);
  });

  test('have a few seconds when their node stops, and are then answered as interrupted', async () => {
    await world.addNode();
    await openWithHanging(['call_1']);
    const { sideband } = world.provider;
    const stopping = node.stop();
    world.timers.advance(4999);
    expect(sideband.asked).toEqual([]);
    world.timers.advance(1);
    await stopping;
    expect(sideband.asked).toMatchObject([{ type: 'tool_output', output: INTERRUPTED }, { type: 'respond' }]);
    expect(await records()).toMatchObject([{ state: 'failed', code: 'interrupted' }]);
  });

  test('cannot be answered by a page', async () => {
    await world.open(node);
    server.mode = 'hang';
    ask('resp_1', 'call_1');
    answerOfPage('call_1', 'forged');
    expect(world.answers).toEqual(['TOOL_UNKNOWN']);
    expect(outputs()).toEqual([]);
  });

  test('run beside those of the page, which the agent awaits as well', async () => {
    await world.open(node);
    world.want();
    ask('resp_1', 'call_1', { callId: 'call_2', name: 'show' });
    await told();
    expect(responses()).toBe(0);
    answerOfPage('call_2', 'shown');
    expect(responses()).toBe(1);
  });

  test('are shown to pages while one is running', async () => {
    await world.open(node);
    server.mode = 'hang';
    ask('resp_1', 'call_1');
    world.shown.length = 0;
    world.want();
    expect(world.shown).toContainEqual({ type: 'thinking', on: true, tool: 'lookup' });
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), soon);
    world.shown.length = 0;
    timeOut();
    await told();
    await vi.waitFor(() => expect(world.shown).toEqual([{ type: 'thinking', on: false }]), soon);
    expect(JSON.stringify(world.shown)).not.toMatch(/tools\.test|crm/);
  });

  test('that take long are bridged with words, once for all that are running', async () => {
    useTools({ say: 'One moment.' });
    await openWithHanging(['call_1', 'call_2']);
    expect(world.sideband.asked).toEqual([]);
    world.timers.advance(1500);
    expect(world.sideband.asked).toEqual([
      { type: 'message', role: 'system', text: 'lookup takes a moment to answer. Until then say only: One moment.' },
      { type: 'respond', instructions: null },
    ]);
  });

  test('cost what their definition says if their server was reached, and nothing otherwise', async () => {
    useTools({ microDollars: 1500 });
    await world.open(node);
    server.mode = 'reset';
    ask('resp_1', 'call_1');
    await told();
    expect(usages()).toEqual([]);
    server.mode = { status: 500, body: '' };
    ask('resp_2', 'call_2');
    await told(2);
    expect(usages()).toEqual([{ type: 'usageTool', key: 'call_2', microDollars: 1500 }]);
  });

  test('are saved as over only once their price is counted, so that the next node counts it if one dies in between', async () => {
    useTools({ microDollars: 1500 });
    await world.open(node);
    world.metering.isAway = true;
    ask('resp_1', 'call_1');
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
    await openWithHanging(['call_1']);
    world.endSession();
    await world.pass(2000);
    await saved('dropped');
    expect(outputs()).toEqual([]);
    expect(world.wrongs).toEqual([]);
  });

  test('are counted by their outcome', async () => {
    await world.open(node);
    ask('resp_1', 'call_1');
    await told();
    const metrics = await world.metrics.registry.metrics();
    expect(metrics).toContain('switchboard_tool_calls_total{tool="lookup",code="answered"} 1');
    expect(metrics).toContain('switchboard_tool_call_seconds_count{code="answered"} 1');
  });
});
