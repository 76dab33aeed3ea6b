import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { UpstreamEvent } from '../../../src/upstream/contract.ts';
import { soon } from '../../support/soon.ts';
import { ToolServer } from '../../support/tool-server.ts';
import { node, SESSION, useCalls, world } from './calls-world.ts';

export const ANSWER = '{"found":true}';
export const INTERRUPTED = '{"error":"interrupted"}';

/** The server of the tool `lookup` of the present test: see `useToolServer`. */
export let server: ToolServer;

/** Gives each test a world with one node whose session has a tool of a server, which answers with `ANSWER`, and one of its page. */
export function useToolServer(): void {
  useCalls();
  beforeEach(async () => {
    server = await ToolServer.start();
    server.mode = { body: ANSWER };
    world.secrets.set('acme/crm', 'value-of-crm');
    useTools({});
  });
  afterEach(() => server.close());
}

/** Sets up the session with two tools: one of the server, with `changes`, and one of the page. */
export function useTools(changes: object, dataChannel: 'none' | 'open' = 'none'): void {
  const lookup = {
    kind: 'server_tool',
    name: 'lookup',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    url: `http://tools.test:${server.port}/lookup`,
    headers: { authorization: 'Bearer ${secret:crm}' },
    ...changes,
  };
  const tools = [lookup, { kind: 'client_tool', name: 'show' }];
  world.setUpChannel(dataChannel, { tools, metadata: { plan: 'gold' } });
}

interface ToolAsk {
  readonly callId: string;
  readonly name?: string;
  readonly arguments?: string;
}

/** The agent asks for tools in one response: by default for `lookup`. */
export function ask(responseId: string, ...calls: readonly (string | ToolAsk)[]): void {
  const usual = { name: 'lookup', arguments: '{"order":"A17"}' };
  const asked = calls.map((call) => ({ ...usual, ...(typeof call === 'string' ? { callId: call } : call) }));
  world.hear({ type: 'toolsAsked', responseId, calls: asked });
}

/** Opens the call, and its agent asks for tools whose server does not answer, until they have reached it. */
export async function openWithHanging(callIds: readonly string[], on = node): Promise<void> {
  await world.open(on);
  server.mode = 'hang';
  ask('resp_1', ...callIds);
  await vi.waitFor(() => expect(server.requests).toHaveLength(new Set(callIds).size), soon);
}

/** The node of the call dies, and another one takes it over. */
export async function takeOver(): Promise<void> {
  for (const each of world.nodes) world.kill(each);
  await world.addNode();
  await world.pass(12_000);
}

/** Lets the time pass that a tool has to answer. */
export const timeOut = (): void => world.gather(8000);

/** The event that the conversation has taken an answer: ours, unless `item` names another. */
export function answered(callId: string, item = `sb_${callId}`, isDenial = false): UpstreamEvent {
  return { type: 'toolAnswered', item, callId, isDenial };
}

/** The page answers its tool. */
export const answerOfPage = (id: string, output: unknown): void => world.request({ type: 'tool_result', id, output });

export const outputs = () => world.askedFor('tool_output');
export const responses = (): number => world.askedFor('respond').length;
export const records = (): Promise<readonly ToolCallRecord[]> => world.stores.toolCalls.ofSession(SESSION);

/** Waits until the model has been told this many answers. @returns the answers */
export async function told(times = 1): Promise<readonly string[]> {
  await vi.waitFor(() => expect(outputs()).toHaveLength(times), soon);
  return outputs().map(({ output }) => output);
}

export const saved = (...states: readonly ToolCallRecord['state'][]) =>
  vi.waitFor(async () => expect((await records()).map(({ state }) => state)).toEqual(states), soon);

export const usages = (): unknown[] =>
  world.metering.heard.filter((event) => (event as { readonly type?: unknown }).type === 'usageTool');
