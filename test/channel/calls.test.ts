import { beforeEach, describe, expect, test } from 'vitest';
import type { BusMessage } from '../../src/protocol/bus.ts';
import type { CallFrame } from '../../src/protocol/call-frames.ts';
import type { TestApp } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { useApps } from '../support/use-apps.ts';
import { ChannelClient } from './client.ts';

type CallAsked = Extract<BusMessage, { type: 'call.asked' }>;
type CallWanted = Extract<BusMessage, { type: 'call.wanted' }>;

const caption: CallFrame = { type: 'transcript', id: 'i1', who: 'agent', text: 'Good morning', final: true };
const tool: CallFrame = { type: 'tool', id: 'call_1', name: 'look_up', arguments: '{}' };
const open: CallFrame = { type: 'call', state: 'open', call: 'call_a' };

describe('a socket that wants to hear of its call', () => {
  const { build } = useApps();
  let app: TestApp;
  let sessionId: string;
  let heard: BusMessage[];
  /** What the node that holds the call answers; undefined if no node holds it. */
  let answer: Extract<BusMessage, { type: 'call.answered' }>['code'] | undefined;

  beforeEach(async () => {
    app = await build({ env: { RATE_BURST: '500' } });
    sessionId = await app.open(await app.key());
    heard = [];
    answer = null;
    app.live.bus.subscribe((message) => {
      heard.push(message);
      if (message.type === 'call.asked' && answer !== undefined)
        app.live.bus.publish({ type: 'call.answered', sessionId, request: message.request, code: answer });
    });
  });

  const attach = async (
    wants: readonly string[] = ['call', 'something_new'],
    id = sessionId,
  ): Promise<ChannelClient> => {
    const client = new ChannelClient(app);
    client.say({ type: 'attach', sm_session_id: id, wants });
    expect(await client.hear()).toMatchObject({ type: 'attached' });
    return client;
  };
  const show = (...frames: CallFrame[]): void =>
    app.live.bus.publish({ type: 'call.shown', sessionId, frames, settled: [] });
  const pass = (seconds: number): void => {
    for (let tick = 0; tick < seconds; tick += 1) {
      app.clock.advance(SECOND);
      app.service.hub.tick();
    }
  };
  const wanted = (): CallWanted[] => heard.filter((message) => message.type === 'call.wanted');
  const asked = (): CallAsked[] => heard.filter((message) => message.type === 'call.asked');

  test('hears of it, and no other socket does', async () => {
    const otherId = await app.open(await app.key());
    const [client, older, other] = [await attach(), await attach([]), await attach(['call'], otherId)];
    show(caption, tool, open);
    expect(client.heard()).toEqual([caption, tool, open]);
    expect([...older.heard(), ...other.heard()]).toEqual([]);
  });

  test('is told the call’s state at once if other sockets on its node already hear of it', async () => {
    const client = await attach();
    show(open);
    expect([client.heard(), (await attach()).heard()]).toEqual([[open], [open]]);
    show({ ...open, state: 'closed' });
    expect((await attach()).heard()).toEqual([]);
  });

  test('goes on asking for a new call while and after the former one is closed, of which it is told too', async () => {
    const client = await attach();
    const state = (call: string, ...states: readonly ('connecting' | 'open' | 'closing' | 'closed')[]): CallFrame[] =>
      states.map((each) => ({ type: 'call', state: each, call }));
    const thinking: CallFrame = { type: 'thinking', on: true, tool: 'ours' };
    show(...state('call_a', 'open'), tool, thinking);
    const frames = [
      ...state('call_b', 'connecting'),
      ...state('call_a', 'closing'),
      ...state('call_b', 'open'),
      ...state('call_a', 'closed'),
    ];
    client.heard();
    show(...frames);
    expect(client.heard()).toEqual(frames);
    expect((await attach()).heard()).toEqual(state('call_b', 'open'));
    const before = wanted().length;
    pass(60);
    const repeated = wanted().slice(before);
    expect(repeated.length).toBeGreaterThan(5);
    for (const each of repeated) expect(each).toMatchObject({ isOn: true, tools: [] });
    show(...state('call_b', 'closing', 'closed'));
    const last = wanted().length;
    pass(60);
    expect(wanted()).toHaveLength(last);
  });

  test('is told at once that a tool of the server is running if other sockets on its node already know', async () => {
    const on: CallFrame = { type: 'thinking', on: true, tool: 'ours' };
    const off: CallFrame = { type: 'thinking', on: false };
    await attach();
    show(open, on);
    expect((await attach()).heard()).toEqual([open, on]);
    show(off);
    expect((await attach()).heard()).toEqual([open, off]);
    show({ ...open, state: 'closed' });
    expect((await attach()).heard()).toEqual([]);
  });

  test('asks for the call when it attaches and repeatedly while there is one, and withdraws when the last such socket is gone', async () => {
    const { node } = app.service.core.lease;
    await attach([]);
    expect(wanted()).toEqual([]);
    const [client, tab] = [await attach(), await attach()];
    expect(wanted().at(-1)).toEqual({ type: 'call.wanted', sessionId, node, isOn: true, tools: [] });
    for (let tick = 0; tick < 60; tick += 1) app.service.hub.tick();
    expect(wanted()).toHaveLength(4);
    show(open, tool);
    const before = wanted().length;
    pass(20);
    expect(wanted().slice(before)).toMatchObject([{ tools: ['call_1'] }, { tools: ['call_1'] }]);
    app.live.bus.publish({ type: 'call.shown', sessionId, frames: [], settled: ['call_1'] });
    client.listener.closed(1000);
    expect(wanted().at(-1)?.isOn).toBe(true);
    tab.listener.closed(1000);
    expect(wanted().at(-1)).toMatchObject({ isOn: false });
  });

  test('passes what the page asks for to the node that holds the call, in order', async () => {
    const client = await attach();
    const frames = [
      { type: 'say', id: 'm1', text: 'When do you open?' },
      { type: 'interrupt' },
      { type: 'talk', on: true },
      { type: 'talk', on: false },
      { type: 'tool_result', id: 'call_1', output: { open: [9, 17] } },
    ] as const;
    for (const frame of frames) client.say(frame);
    expect(asked().map(({ frame }) => frame)).toEqual(frames);
    expect(asked()[0]).toMatchObject({ sessionId, untilMs: app.clock.now() + 2000 });
    expect(client.heard()).toEqual([]);
  });

  test('is told what the call refuses, by the id that the page gave it', async () => {
    const client = await attach();
    answer = 'TOOL_UNKNOWN';
    client.say({ type: 'tool_result', id: 'call_1', output: 'late' });
    answer = undefined;
    client.say({ type: 'say', id: 'm1', text: 'hello' });
    client.say({ type: 'interrupt' });
    client.say({ type: 'talk', on: true });
    expect(client.heard()).toMatchObject([
      { type: 'error', code: 'TOOL_UNKNOWN', id: 'call_1' },
      { type: 'error', code: 'CALL_NOT_OPEN', id: 'm1' },
      { type: 'error', code: 'CALL_NOT_OPEN' },
    ]);
  });

  test('may say twenty texts a minute, interrupt sixty times and talk sixty times, over all sockets', async () => {
    const [client, tab] = [await attach(), await attach()];
    for (let said = 0; said < 20; said += 1) client.say({ type: 'say', id: `m${said}`, text: 'hello' });
    expect(client.heard()).toEqual([]);
    tab.say({ type: 'say', id: 'more', text: 'hello' });
    const [refusal] = tab.heard();
    expect(refusal).toMatchObject({ type: 'error', code: 'RATE_LIMIT_EXCEEDED', id: 'more' });
    expect(refusal).toHaveProperty('retryAfter');
    for (let times = 0; times < 61; times += 1) client.say({ type: 'interrupt' });
    expect(client.heard()).toMatchObject([{ type: 'error', code: 'RATE_LIMIT_EXCEEDED' }]);
    for (let times = 0; times < 121; times += 1) client.say({ type: 'talk', on: times % 2 === 0 });
    expect(client.heard()).toMatchObject([{ type: 'error', code: 'RATE_LIMIT_EXCEEDED' }]);
    expect(asked()).toHaveLength(200);
    app.clock.advance(60 * SECOND);
    client.say({ type: 'say', id: 'later', text: 'hello' });
    expect(asked()).toHaveLength(201);
  });

  test.each([
    { type: 'say', id: 'm1', text: '' },
    { type: 'say', id: 'm1', text: ' \n' },
    { type: 'say', id: '', text: 'hello' },
    { type: 'say', text: 'hello' },
    { type: 'say', id: 'm1', text: 'x'.repeat(2001) },
    { type: 'talk' },
    { type: 'talk', on: 'yes' },
    { type: 'tool_result', id: 'call_1' },
    { type: 'tool_result', id: 'call_1', output: 'x'.repeat(16 * 1024) },
    '{"type":"tool_result","id":"call_1","output":' + '['.repeat(9000) + ']'.repeat(9000) + '}',
    '{"type":"tool_result","id":"call_1","output":"\\ud800"}',
    '['.repeat(20_000),
  ])('is told of an invalid frame, and asks for nothing', async (frame) => {
    const client = await attach();
    client.say(frame);
    expect(client.heard()).toMatchObject([{ type: 'error', code: 'INVALID_REQUEST' }]);
    expect(asked()).toEqual([]);
    client.say({ type: 'tool_result', id: 'call_1', output: 'x'.repeat(16 * 1024 - 2) });
    expect(asked()).toHaveLength(1);
  });

  test('asks for nothing before it is attached', async () => {
    const client = new ChannelClient(app);
    client.say({ type: 'say', id: 'm1', text: 'hello' });
    client.say({ type: 'attach', sm_session_id: `${sessionId}x`, wants: ['call'] });
    expect(client.closeCode).toBe(4404);
    expect(asked()).toEqual([]);
    expect(wanted()).toEqual([]);
  });
});
