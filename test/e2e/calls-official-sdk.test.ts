import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { noAudio, playBrowser } from '../support/official-page.ts';
import type { TestCall } from '../support/provider/call.ts';
import { soon } from '../support/soon.ts';
import { ToolServer } from '../support/tool-server.ts';
import { acme, serviceToken, site, siteKey, type World } from '../support/world.ts';
import { Page, responseOf, seen, startCalls } from './calls-world.ts';

/** The original `fetch`, as a back end has it: tests replace the global to play a browser in this process. */
const { fetch } = globalThis;

let world: World;
let tools: ToolServer;
let page: Page;
let session: RealtimeSession | undefined;

beforeAll(async () => {
  tools = await ToolServer.start();
  const locked = { id: 'site', key: siteKey, origin: site, allowOverrides: false };
  const tenants = acme.tenants.map((tenant) => ({
    ...tenant,
    widgetKeys: [locked],
    agents: (tenant['agents'] as readonly object[]).flatMap((agent) => [
      agent,
      { ...agent, id: 'captioned', transcribe: {} },
      { ...agent, id: 'asking', dataChannel: 'open', tools: [hoursAt(tools.port)] },
    ]),
  }));
  world = await startCalls({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1' }, { tenants });
});

beforeEach(async () => {
  page = await Page.of(world).create();
  playBrowser(site, () => world.provider.lastCall);
});

afterEach(() => {
  session?.close();
  vi.unstubAllGlobals();
});

afterAll(async () => {
  await world?.close();
  await tools?.close();
});

const hoursAt = (port: number): object => ({
  kind: 'server_tool',
  name: 'opening_hours',
  url: `http://localhost:${port}/hours`,
});

/** Connects the SDK as its documentation shows, with our address and our ticket. */
async function connect(agent: RealtimeAgent): Promise<TestCall> {
  const transport = new OpenAIRealtimeWebRTC({ baseUrl: `${world.server.origin}/api/realtime/calls`, ...noAudio });
  session = new RealtimeSession(agent, { transport, tracingDisabled: false });
  await session.connect({ apiKey: page.ticket });
  return world.provider.lastCall;
}

const instructions = 'Help the caller.';
const callOf = async () => (await seen(world, page)).calls[0];
const putBack = (call: TestCall): Promise<void> =>
  vi.waitFor(() => expect(call.session['instructions']).toBe(instructions), soon);

/** The provider announces that the agent calls a tool. */
function callTool(call: TestCall, name: string, callId: string): void {
  const id = call.beginResponse(responseOf().usage);
  const item = {
    id: `item_${callId}`,
    type: 'function_call',
    status: 'completed',
    call_id: callId,
    name,
    arguments: '{}',
  };
  const of = { response_id: id, output_index: 0 };
  call.emit({ type: 'response.output_item.added', ...of, item: { ...item, status: 'in_progress' } });
  call.emit({
    type: 'response.function_call_arguments.done',
    ...of,
    item_id: item.id,
    call_id: callId,
    name,
    arguments: '{}',
  });
  call.emit({ type: 'response.output_item.done', ...of, item });
  call.finishResponse('completed', id, [item]);
}

test('With a key without overrides the provider’s own SDK opens a call and speaks, and the session’s setup stays', async () => {
  const call = await connect(new RealtimeAgent({ name: 'Guide', instructions: 'Be a pirate.' }));
  await putBack(call);
  // The page may decide how it is transcribed.
  expect(call.session).toMatchObject({ audio: { input: { transcription: { model: 'gpt-4o-mini-transcribe' } } } });
  session?.sendMessage('Hello.');
  await vi.waitFor(() => expect(call.open).toHaveLength(1), soon);
  call.finishResponse();
  await vi.waitFor(async () => expect(await callOf()).toMatchObject({ state: 'open', tokens: { audioIn: 10 } }), soon);
  await page.end();
  await vi.waitFor(async () => expect(await callOf()).toMatchObject({ closeReason: 'session_ended' }), soon);
});

test('The provider’s own SDK may ask for a response as soon as it is connected', async () => {
  const call = await connect(new RealtimeAgent({ name: 'Guide' }));
  session?.transport.requestResponse?.();
  await vi.waitFor(() => expect(call.open).toHaveLength(1), soon);
  const [greeting] = call.open;
  await putBack(call);
  expect(call.open).toEqual([greeting]);
  expect(call.ended).toBeUndefined();
});

test.each(['support', 'captioned'])(
  'The provider’s own SDK may hand over between agents again and again (%s)',
  async (agentId) => {
    page = await Page.of(world).create({ agentId });
    const billing = new RealtimeAgent({ name: 'Billing', instructions: 'Talk of bills.' });
    const guide = new RealtimeAgent({ name: 'Guide', instructions: 'Be a guide.', handoffs: [billing] });
    billing.handoffs = [guide];
    const call = await connect(guide);
    await putBack(call);
    for (let n = 0; n < 8; n += 1) {
      const to = n % 2 === 0 ? 'Billing' : 'Guide';
      callTool(call, `transfer_to_${to}`, `call_${n}`);
      await vi.waitFor(() => expect(session?.currentAgent.name).toBe(to), soon);
      await vi.waitFor(() => expect(call.open).toHaveLength(1), soon);
      await putBack(call);
      call.finishResponse();
    }
    expect(await callOf()).toMatchObject({ state: 'open' });
    expect(call.ended).toBeUndefined();
  },
);

test('In one conversation the provider’s own SDK answers its page’s tools again and again, beside those of the server', async () => {
  page = await Page.of(world).create({ agentId: 'asking' });
  tools.mode = { body: '{"opens":"09:00"}' };
  const parameters = { type: 'object' as const, properties: {}, required: [], additionalProperties: false as const };
  const execute = (): string => 'shown';
  const show = tool({ name: 'show_map', description: 'Shows a map.', parameters, execute, strict: true });
  const call = await connect(new RealtimeAgent({ name: 'Guide', tools: [show] }));
  // For a tool that its page lacks, the SDK reports an error to the page; what it answers is removed from the conversation.
  session?.on('error', () => undefined);
  await putBack(call);
  const answered: string[] = [];
  const { onPageEvent } = call;
  call.onPageEvent = (event) => {
    const { item } = event as { readonly item?: { readonly type: string; readonly output?: string } };
    if (event['type'] === 'conversation.item.added' && item?.type === 'function_call_output')
      answered.push(item.output ?? '');
    onPageEvent(event);
  };
  for (let n = 0; n < 4; n += 1) {
    callTool(call, n % 2 === 0 ? 'opening_hours' : 'show_map', `call_${n}`);
    await vi.waitFor(() => expect(call.open).toHaveLength(1), soon);
    call.finishResponse();
  }
  for (let n = 4; n < 8; n += 1) {
    callTool(call, 'opening_hours', `call_${n}`);
    await vi.waitFor(() => expect(call.open).toHaveLength(1), soon);
    call.finishResponse();
  }
  expect(answered.filter((output) => output === '{"opens":"09:00"}')).toHaveLength(6);
  expect(answered.filter((output) => output === 'shown')).toHaveLength(2);
  const deleted = (): unknown[] => call.heard.filter(({ type }) => type === 'conversation.item.delete');
  await vi.waitFor(() => expect(deleted()).toHaveLength(6), soon);
  expect(await callOf()).toMatchObject({ state: 'open' });
  expect(call.ended).toBeUndefined();
});

const backEnd = (apiKey: string) => new OpenAI({ baseURL: `${world.server.origin}/v1`, apiKey, maxRetries: 0, fetch });

test('The provider’s own clients, on a server and in a page, need only another base URL and key', async () => {
  const client = backEnd(serviceToken);
  const secret = await client.realtime.clientSecrets.create(
    { session: { type: 'realtime' } },
    { headers: { 'X-Switchboard-Agent': 'support' } },
  );
  const transport = new OpenAIRealtimeWebRTC({ baseUrl: `${world.server.origin}/v1/realtime/calls`, ...noAudio });
  session = new RealtimeSession(new RealtimeAgent({ name: 'Guide' }), { transport });
  await session.connect({ apiKey: secret.value });
  const call = world.provider.lastCall;
  await putBack(call);
  session.sendMessage('Hello.');
  await vi.waitFor(() => expect(call.open).toHaveLength(1), soon);
  call.finishResponse();
  const models = await client.models.list();
  expect(models.data.map(({ object }) => object)).toEqual(['model']);
});

test('The provider’s own client reports our refusals as its own errors, which say what to do', async () => {
  await expect(backEnd(serviceToken).realtime.clientSecrets.create({})).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('X-Switchboard-Agent') as string,
  });
  await expect(backEnd('wrong').models.list()).rejects.toMatchObject({ status: 401 });
});
