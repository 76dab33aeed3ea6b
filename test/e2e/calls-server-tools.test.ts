import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSealer } from '../../src/kernel/seal.ts';
import { setSecret } from '../../src/tenant-secrets/secrets.ts';
import { createPostgresStores } from '../../src/stores/postgres.ts';
import type { CreateReply } from '../../src/protocol/create.ts';
import { DemoServer } from '../support/demo-server.ts';
import { offerSdp } from '../support/provider/sdp.ts';
import { systemClock } from '../../src/kernel/time.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { soon } from '../support/soon.ts';
import { openStored } from '../support/stored.ts';
import { SocketClient } from '../support/socket-client.ts';
import { runToEnd } from '../support/switchboard.ts';
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
});

/** All that the database holds about how the session was created. */
async function dumpOf(world: World, sessionId: string): Promise<string> {
  const database = await openStored(world.environment);
  const rows = await database.run((sql) => sql`select * from session_setup where session_id = ${sessionId}`);
  await database.close();
  expect(rows).toHaveLength(1);
  return JSON.stringify(rows);
}

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
