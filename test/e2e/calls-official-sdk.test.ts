import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { noAudio, playBrowser } from '../support/official-page.ts';
import type { TestCall } from '../support/provider/call.ts';
import { soon } from '../support/soon.ts';
import { acme, site, siteKey, type World } from '../support/world.ts';
import { Page, responseOf, seen, startCalls } from './calls-world.ts';

let world: World;
let page: Page;
let session: RealtimeSession | undefined;

beforeAll(async () => {
  const locked = { id: 'site', key: siteKey, origin: site, allowOverrides: false };
  const tenants = acme.tenants.map((tenant) => ({
    ...tenant,
    widgetKeys: [locked],
    agents: (tenant['agents'] as readonly object[]).flatMap((agent) => [
      agent,
      { ...agent, id: 'captioned', transcribe: {} },
    ]),
  }));
  world = await startCalls({}, { tenants });
});

beforeEach(async () => {
  page = await Page.of(world).create();
  playBrowser(site, () => world.provider.lastCall);
});

afterEach(() => {
  session?.close();
  vi.unstubAllGlobals();
});

afterAll(() => world.close());

/** The SDK as its documentation has it, with our address and our ticket. */
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

/** The provider tells that the agent calls a tool. */
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
  call.finishResponse('completed', id);
}

test('The provider’s own SDK connects to a call of a key without overrides, whose setup stays, and speaks', async () => {
  const call = await connect(new RealtimeAgent({ name: 'Guide', instructions: 'Be a pirate.' }));
  await putBack(call);
  // How the page is heard is its own affair.
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

test.each(['support', 'captioned'])('The provider’s own SDK may hand over again and again (%s)', async (agentId) => {
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
});
