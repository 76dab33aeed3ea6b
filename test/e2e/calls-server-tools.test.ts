import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSealer } from '../../src/kernel/seal.ts';
import { setSecret } from '../../src/secrets/secrets.ts';
import { createPostgresStores } from '../../src/stores/postgres.ts';
import type { CreateReply } from '../../src/protocol/create.ts';
import { DemoServer } from '../support/demo-server.ts';
import type { TestCall } from '../support/provider/call.ts';
import { offerSdp } from '../support/provider/sdp.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { soon } from '../support/soon.ts';
import { openStored } from '../support/stored.ts';
import { SocketClient } from '../support/socket-client.ts';
import { runToEnd, type Switchboard } from '../support/switchboard.ts';
import { ToolServer } from '../support/tool-server.ts';
import { site, siteKey, type World } from '../support/world.ts';
import { Page, seen, startCalls, type CallSeen } from './calls-world.ts';

const reason = reasonToSkipPostgres();
const SEALING_KEY = Buffer.alloc(32, 5).toString('base64');
const SECRET = 'value-that-only-the-tool-server-reads';
const CUSTOMER = 'customer-that-only-the-tool-server-knows';
const INSTRUCTIONS = 'Help the caller.';

describe.skipIf(reason !== undefined)(`A tool of the server ${reason ?? ''}`, () => {
  let tools: ToolServer;
  let world: World;

  beforeAll(async () => {
    tools = await ToolServer.start();
    const lookup = {
      kind: 'server_tool',
      name: 'lookup_order',
      url: `http://localhost:${tools.port}/lookup`,
      headers: { authorization: 'Bearer ${secret:crm}' },
      microDollars: 700,
    };
    const agent = { id: 'support', dataChannel: 'none', instructions: INSTRUCTIONS, tools: [lookup] };
    const file = {
      tenants: [{ id: 'acme', widgetKeys: [{ id: 'site', key: siteKey, origin: site }], agents: [agent] }],
    };
    world = await startCalls({ SEALING_KEY, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1' }, file);
    world.confidential.add(SECRET).add(CUSTOMER);
    const database = await openStored(world.environment);
    const { tenantSecrets, journal } = createPostgresStores(database);
    const sealer = createSealer([Buffer.from(SEALING_KEY, 'base64')], 'switchboard tenant secrets');
    const by = { actor: 'test', role: 'cli', reason: null } as const;
    const deps = { secrets: tenantSecrets, acts: journal, clock: systemClock, sealer };
    await setSecret({ tenantId: 'acme', name: 'crm', value: SECRET }, by, deps);
    await database.close();
  });

  afterAll(async () => {
    await world?.close();
    await tools?.close();
  });

  test('is called without the page, which learns neither its address nor a secret, and costs its price', async () => {
    const signing = await runToEnd(['secrets', 'signing', '--tenant', 'acme'], world.environment);
    expect(signing.stdout).toMatch(/^whsec_/);
    world.confidential.add(signing.stdout.trim());
    tools.mode = { body: '{"state":"on its way"}' };
    const page = Page.of(world);
    page.hasChannel = false;
    const context = { customer: CUSTOMER };
    expect((await page.tryCreate({ context })).status).toBe(403);
    const wish = { widgetKey: siteKey, agentId: 'support', email: page.email, context };
    const created = await world.backend(undefined, { Origin: site }).post('/api/session', wish);
    expect(created.status, created.text).toBe(200);
    page.got.push(created.text);
    page.sessionId = created.body.sm_session_id ?? '';
    page.ticket = created.body.client_secret?.value ?? '';
    const call = await page.dial(world);
    const socket = await page.listen(['call']);
    expect(page.got.join('')).toContain('"serverTools":["lookup_order"]');
    expect(JSON.stringify(call.terms.session)).not.toMatch(/localhost|crm/);
    const output = [
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'lookup_order', arguments: '{"order":7}' },
    ];
    const response = { object: 'realtime.response', id: 'resp_1', status: 'completed', output, usage: null };
    call.emit({ type: 'response.done', response });
    const told = (type: string) => call.heard.filter((event) => event['type'] === type);
    await vi.waitFor(() => expect(told('response.create')).toHaveLength(1), soon);
    expect(told('conversation.item.create')).toMatchObject([
      { item: { id: 'sb_call_1', type: 'function_call_output', call_id: 'call_1', output: '{"state":"on its way"}' } },
    ]);
    expect(tools.requests).toMatchObject([{ url: '/lookup', headers: { authorization: `Bearer ${SECRET}` } }]);
    expect(JSON.parse(tools.requests[0]?.body ?? '')).toMatchObject({
      data: { context, session: { agentId: 'support', agentVersion: expect.stringMatching(/^[0-9a-f]{12}$/) } },
    });
    await vi.waitFor(() => expect(socket.messages.join('')).toContain('"type":"thinking","on":false'), soon);
    const bytes = page.got.join('') + socket.messages.join('');
    for (const word of [
      CUSTOMER,
      SECRET,
      signing.stdout.trim(),
      'localhost:' + tools.port,
      '/lookup',
      INSTRUCTIONS,
      'on its way',
    ])
      expect(bytes).not.toContain(word);
    // The stand-in reports no usage for its responses: what is estimated for them is left out.
    const measured = async (): Promise<number> => {
      const [{ microDollars = 0, estimatedMicroDollars = 0 } = {}] = (await seen(world, page))
        .calls as Partial<CallSeen>[];
      return microDollars - estimatedMicroDollars;
    };
    await vi.waitFor(async () => expect(await measured()).toBe(700), soon);
    const { calls } = await seen(world, page);
    const { body } = await world.backend().get(`/api/operator/calls/${calls[0]?.ref}`);
    expect(body).toMatchObject({ tools: [{ name: 'lookup_order', state: 'answered', code: null, tries: 1 }] });
    const shown = [
      body,
      await seen(world, page),
      ...(await Promise.all(
        ['secrets', 'audit', 'refusals', 'sessions', 'changes'].map((path) =>
          world.backend().get(`/api/operator/${path}`),
        ),
      )),
      await world.backend().get('/metrics'),
    ];
    expect(shown[1]).toMatchObject({ hasContext: true, agentVersion: expect.stringMatching(/^[0-9a-f]{12}$/) });
    for (const word of [CUSTOMER, SECRET]) expect(JSON.stringify([shown, call.heard])).not.toContain(word);
    expect(await dumpOf(world, page.sessionId)).not.toContain(CUSTOMER);
    await page.end();
    expect(world.leaks()).toEqual([]);
  });

  test('is answered once, and the agent goes on once, if the sideband breaks during the answer', async () => {
    tools.mode = { body: '{"state":"lost"}' };
    const page = Page.of(world);
    page.hasChannel = false;
    const call = await page.call(world);
    const told = (type: string) => call.heard.filter((event) => event['type'] === type);
    const before = tools.requests.length;
    // From now on nothing that is sent to the provider arrives.
    call.stall();
    call.askForTool('call_1', 'lookup_order');
    const [{ ref = '' } = {}] = (await seen(world, page)).calls as readonly Partial<CallSeen>[];
    await vi.waitFor(async () => {
      const { body } = await world.backend().get(`/api/operator/calls/${ref}`);
      expect(body).toMatchObject({ tools: [{ state: 'answered' }] });
    }, soon);
    expect(told('conversation.item.create')).toEqual([]);
    call.breakSidebands();
    await vi.waitFor(() => expect(told('response.create')).toHaveLength(1), soon);
    expect(told('conversation.item.create')).toMatchObject([
      { item: { id: 'sb_call_1', call_id: 'call_1', output: '{"state":"lost"}' } },
    ]);
    // The conversation holds the answer, whether or not the node has heard so: another break changes nothing.
    call.finishResponse();
    const { attached } = call;
    call.breakSidebands();
    await vi.waitFor(() => expect(call.attached).toBe(attached + 1), soon);
    await page.end();
    await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    expect(told('conversation.item.create').every(({ item }) => (item as { id: string }).id === 'sb_call_1')).toBe(
      true,
    );
    expect([told('response.create'), tools.requests.slice(before)].map(({ length }) => length)).toEqual([1, 1]);
  });
});

/** All that the database holds about how the session was created. */
async function dumpOf(world: World, sessionId: string): Promise<string> {
  const database = await openStored(world.environment);
  const rows = await database.run((sql) => sql`select * from session_setup where session_id = ${sessionId}`);
  await database.close();
  expect(rows).toHaveLength(1);
  return JSON.stringify(rows);
}

const reasonForTwo = reason ?? reasonToSkipRedis();

describe.skipIf(reasonForTwo !== undefined)(`A tool of the server over two nodes ${reasonForTwo ?? ''}`, () => {
  let tools: ToolServer;
  let redis: RedisService;
  let world: World;
  /** Holds the call. */
  let one: Switchboard;

  beforeAll(async () => {
    [tools, redis] = await Promise.all([ToolServer.start(), startRedis()]);
    const lookup = { kind: 'server_tool', name: 'lookup', url: `http://localhost:${tools.port}/`, microDollars: 700 };
    const agent = { id: 'support', dataChannel: 'none', tools: [lookup] };
    const file = {
      tenants: [{ id: 'acme', widgetKeys: [{ id: 'site', key: siteKey, origin: site }], agents: [agent] }],
    };
    world = await startCalls({ REDIS_URL: redis.url, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1' }, file);
    one = world.server;
    await world.startServer();
  });

  afterAll(async () => {
    await one?.end('SIGKILL');
    await world?.close();
    await redis?.stop();
    await tools?.close();
  });

  const ENDS = { body: '{"order":"closed","switchboard":{"end":{"reason":"order_closed"}}}' };

  /** A page on the second node, whose call the first node holds and whose agent was given a tool's answer that ends the session. */
  async function askForTheEnd(): Promise<{ page: Page; call: TestCall; socket: SocketClient }> {
    tools.mode = ENDS;
    const page = new Page(() => world.server.origin, world.confidential);
    page.hasChannel = false;
    await page.create();
    const atHolder = page.at(() => one.origin);
    atHolder.hasChannel = false;
    const call = await atHolder.dial(world);
    call.isPlayed = true;
    const socket = await page.listen(['call']);
    call.askForTool('call_1', 'lookup');
    await vi.waitFor(() => expect(call.open).toHaveLength(1), soon);
    expect(told(call)).toMatchObject([{ item: { id: 'sb_call_1', call_id: 'call_1', output: '{"order":"closed"}' } }]);
    return { page, call, socket };
  }

  const told = (call: TestCall) => call.heard.filter(({ type }) => type === 'conversation.item.create');
  const asked = (call: TestCall) => call.heard.filter(({ type }) => type === 'response.create');

  /** Checks that the session has ended for page, provider and operators, and that nothing is left open. */
  async function expectEnded(page: Page, call: TestCall, socket: SocketClient): Promise<void> {
    await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    await vi.waitFor(() => expect(socket.messages.join('')).toContain('"reason":"closed_by_tool"'), soon);
    await vi.waitFor(
      async () =>
        expect(await seen(world, page)).toMatchObject({
          state: 'ended',
          endReason: 'closed_by_tool',
          calls: [{ state: 'closed', closeReason: 'tool_ended', hangup: 'confirmed' }],
        }),
      soon,
    );
    const [{ ref = '' } = {}] = (await seen(world, page)).calls as readonly Partial<CallSeen>[];
    const { body } = await world.backend().get(`/api/operator/calls/${ref}`);
    expect(body).toMatchObject({ tools: [{ state: 'answered', endReason: 'order_closed' }] });
    expect(page.got.join('') + socket.messages.join('') + JSON.stringify(call.heard)).not.toContain('order_closed');
    expect((await page.post('/api/realtime/ticket')).status).not.toBe(200);
  }

  test('can end the session with its answer, once the agent has finished speaking, whichever node the page is on', async () => {
    const { page, call, socket } = await askForTheEnd();
    call.finishResponse();
    call.say('Goodbye.');
    await vi.waitFor(() => expect(socket.messages.join('')).toContain('Goodbye.'), soon);
    expect([call.ended, (await seen(world, page)).state]).toEqual([undefined, 'engaged']);
    call.playOut();
    await expectEnded(page, call, socket);
    expect([told(call), asked(call)].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('is answered once by the node that takes the call, and costs its price once, if its node is killed while it runs', async () => {
    tools.mode = 'hang';
    const before = tools.requests.length;
    const page = new Page(() => one.origin, world.confidential);
    page.hasChannel = false;
    const call = await page.call(world);
    call.askForTool('call_1', 'lookup');
    await vi.waitFor(() => expect(tools.requests).toHaveLength(before + 1), soon);
    await one.end('SIGKILL');
    const outputs = () => call.heard.filter(({ type }) => type === 'conversation.item.create');
    await vi.waitFor(() => expect(outputs()).toHaveLength(1), soon);
    expect(outputs()).toMatchObject([
      { item: { id: 'sb_call_1', call_id: 'call_1', output: '{"error":"interrupted"}' } },
    ]);
    await vi.waitFor(() => expect(call.heard.filter(({ type }) => type === 'response.create')).toHaveLength(1), soon);
    const atOther = page.at(() => world.server.origin);
    const [{ ref }] = (await seen(world, atOther)).calls as [CallSeen];
    const toolsSeen = async () => (await world.backend().get(`/api/operator/calls/${ref}`)).body;
    await vi.waitFor(
      async () => expect(await toolsSeen()).toMatchObject({ tools: [{ state: 'failed', code: 'interrupted' }] }),
      soon,
    );
    await vi.waitFor(async () => {
      const { microDollars = 0, estimatedMicroDollars = 0 } = (await seen(world, atOther)).calls[0] ?? {};
      expect(microDollars - estimatedMicroDollars).toBe(700);
    }, soon);
    await atOther.end();
    await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    expect([tools.requests.length - before, outputs().length]).toEqual([1, 1]);
  });

  test('ends the session once the last words have been said again, if its node is killed during them', async () => {
    one = world.server;
    await world.startServer();
    const { page, call, socket } = await askForTheEnd();
    const sidebands = call.attached;
    await one.end('SIGKILL');
    await vi.waitFor(() => expect(call.attached).toBeGreaterThan(sidebands), soon);
    call.finishResponse();
    call.playOut();
    await vi.waitFor(() => expect(asked(call)).toHaveLength(2), soon);
    expect(call.ended).toBeUndefined();
    call.finishResponse();
    call.playOut();
    await expectEnded(page, call, socket);
    // The provider accepts no second item with the same id.
    expect(new Set(told(call).map(({ item }) => (item as { id: string }).id))).toEqual(new Set(['sb_call_1']));
  });
});

describe('The demo of a development machine', () => {
  let server: DemoServer;

  beforeAll(async () => {
    server = await DemoServer.start({ NODE_ENV: 'development' });
  });

  afterAll(() => server.close());

  test('answers questions about opening hours with a tool of the server, without a provider key or another server', async () => {
    const headers = {
      Origin: server.direct,
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36',
    };
    const post = (path: string, type: string, body: string, more: object = {}) =>
      fetch(server.direct + path, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': type, 'Accept-Language': 'en', ...more },
        body,
      });
    const wish = { widgetKey: `w_demo_local_${'0'.repeat(32)}`, agentId: 'guide' };
    const created = (await (
      await post('/api/session', 'application/json', JSON.stringify(wish))
    ).json()) as CreateReply;
    expect(created.call.serverTools).toEqual(['get_opening_hours']);
    const bearer = { Authorization: `Bearer ${created.client_secret.value}` };
    const dialled = await post('/api/realtime/calls', 'application/sdp', offerSdp({ channel: true }), bearer);
    expect(dialled.status, await dialled.text()).toBe(201);
    const url = `${server.direct.replace('http', 'ws')}/api/realtime/socket`;
    const socket = await SocketClient.open(url, 'switchboard.v1', { Origin: server.direct });
    socket.say({ type: 'attach', sm_session_id: created.sm_session_id, wants: ['call'] });
    await vi.waitFor(() => expect(socket.messages.join('')).toContain('"state":"open"'), soon);
    socket.say({ type: 'say', id: 'm1', text: 'What are your opening hours?' });
    const said = (): string[] =>
      socket.messages
        .map((text) => JSON.parse(text) as { who?: string; final?: boolean; text?: string })
        .flatMap(({ who, final, text }) => (who === 'agent' && final === true ? [text ?? ''] : []));
    await vi.waitFor(
      () => expect(said().join('')).toMatch(/^The tool says: \{"date":"[\d-]+","(?:opens|closed)":/),
      soon,
    );
    socket.socket.close();
  });
});
