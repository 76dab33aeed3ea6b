import { describe, expect, test, vi } from 'vitest';
import type { UpstreamEvent } from '../../../src/upstream/contract.ts';
import { soon } from '../../support/soon.ts';
import type { ToolServerMode } from '../../support/tool-server.ts';
import { done, node, SESSION, started, world } from './calls-world.ts';
import {
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
  told,
  useToolServer,
  useTools,
} from './tool-calls.ts';

describe('Tools whose server wants the session to end', () => {
  useToolServer();

  const ends = (reason: unknown, more: object = {}) => ({
    body: JSON.stringify({ ...more, switchboard: { end: { reason } } }),
  });
  const speech = (isOn: boolean): UpstreamEvent => ({ type: 'speech', who: 'agent', isOn, responseId: 'last' });
  const say = (): void => world.hear(started('last'), speech(true), done('last'));
  const isOver = (): Promise<void> =>
    vi.waitFor(async () => {
      await world.pass(250);
      expect(world.endReason).toBe('closed_by_tool');
    }, soon);
  /** Says what would be the last words, which ends nothing. */
  const goesOn = async (): Promise<void> => {
    say();
    world.hear(speech(false));
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'open' });
    expect((await records()).every(({ endReason }) => endReason === null)).toBe(true);
  };

  test('have the agent say its last words; operators see the reason, and the model sees nothing of it', async () => {
    await world.open(node);
    server.mode = ends('order_closed', { order: 'closed' });
    ask('resp_1', 'call_1');
    expect(await told()).toEqual(['{"order":"closed"}']);
    // The answer was saved before the model was told.
    expect(await records()).toMatchObject([{ state: 'answered', endReason: 'order_closed' }]);
    expect(responses()).toBe(1);
    say();
    await world.pass(5000);
    expect(await world.call()).toMatchObject({ state: 'open' });
    world.hear(speech(false));
    await isOver();
    expect(await world.call()).toMatchObject({ closeReason: 'tool_ended' });
    expect(JSON.stringify([world.shown, world.sideband.asked])).not.toContain('order_closed');
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
    ask('resp_1', 'call_1');
    expect(await told()).toEqual(['{"error":"failed"}']);
    expect(responses()).toBe(1);
    await saved('failed');
    await goesOn();
  });

  test('end it once, however many tools of one response want it', async () => {
    await world.open(node);
    server.mode = ends('order_closed');
    ask('resp_1', 'call_1', 'call_2');
    await told(2);
    expect(responses()).toBe(1);
    expect(await records()).toMatchObject([{ endReason: 'order_closed' }, { endReason: 'order_closed' }]);
    say();
    world.hear(speech(false));
    await isOver();
  });

  test('end it once the page’s tools of the same response are answered as well', async () => {
    await world.open(node);
    world.want();
    server.mode = ends('order_closed');
    ask('resp_1', 'call_1', { callId: 'call_2', name: 'show' });
    await told();
    await world.pass(20_000);
    expect(responses()).toBe(0);
    answerOfPage('call_2', 'shown');
    expect(responses()).toBe(1);
    say();
    await world.pass(50_000);
    expect(await world.call()).toMatchObject({ state: 'open' });
    world.hear(speech(false));
    await isOver();
  });

  test('end it even if the page answers another tool last, and has the agent go on or not', async () => {
    useTools({}, 'open');
    await world.open(node);
    server.mode = ends('order_closed');
    ask('resp_1', 'call_1', { callId: 'call_2', name: 'show' });
    await told();
    const [{ id: item = '' } = {}] = outputs();
    world.hear(answered('call_1', item));
    world.hear(answered('call_2', 'item_page'));
    expect(responses()).toBe(0);
    await world.pass(59_000);
    expect(await world.call()).toMatchObject({ state: 'open' });
    await world.pass(1250);
    await isOver();
  });

  test('end it even if the call’s node died during the last words, which the agent then says again', async () => {
    await world.open(node);
    server.mode = ends('order_closed');
    ask('resp_1', 'call_1');
    expect(await told()).toEqual(['{"ok":true}']);
    await takeOver();
    // An answer may be sent again under the same id, because the provider accepts no second item with it.
    expect(outputs()).toMatchObject([{ id: 'sb_call_1', output: INTERRUPTED }]);
    // The node that died may have left a response running.
    expect(responses()).toBe(0);
    world.hear({ type: 'conversationIdle' });
    expect(responses()).toBe(1);
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'open' });
    say();
    world.hear(speech(false));
    await world.pass(1000);
    expect(world.endReason).toBe('closed_by_tool');
  });

  test('end it even if the call’s node died during the last words, and nothing is heard of the call from then on', async () => {
    await world.open(node);
    server.mode = ends('order_closed');
    ask('resp_1', 'call_1');
    await told();
    await takeOver();
    await vi.waitFor(async () => {
      await world.pass(10_000);
      expect(world.endReason).toBe('closed_by_tool');
    }, soon);
  });

  test('cannot be escaped with another call of the session, however the former one ends', async () => {
    await world.open(node);
    server.mode = ends('order_closed');
    ask('resp_1', 'call_1');
    await told();
    await world.pass(1000);
    expect(await world.refusal(world.ask(node))).toBe('SESSION_DURATION_EXCEEDED');
    expect(world.endReason).toBe('closed_by_tool');
    await world.pass(2000);
    const calls = await world.stores.calls.ofSession(SESSION);
    expect(calls.map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  test('cannot be escaped with another call that is requested just before they are answered', async () => {
    await openWithHanging(['call_1']);
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
    expect(world.endReason).toBe('closed_by_tool');
  });

  test('must give a reason word, and the model is told nothing that Switchboard does not know', async () => {
    await world.open(node);
    const reasons = ['', 'x'.repeat(65), 'two words', 7, null];
    for (const [n, reason] of reasons.entries()) {
      server.mode = ends(reason, { a: 1 });
      ask(`resp_${n}`, `call_${n}`);
      expect([reason, (await told(n + 1)).at(-1)]).toEqual([reason, '{"a":1}']);
    }
    await saved(...reasons.map(() => 'answered' as const));
    await goesOn();
  });

  test('must say so in an answer that is passed on', async () => {
    await world.open(node);
    const answers: readonly [where: string, mode: ToolServerMode, output: string][] = [
      ['of a failure', { ...ends('x'), status: 500 }, '{"error":"failed"}'],
      ['of a text', { ...ends('x'), type: 'text/plain' }, ends('x').body],
      ['in a list', { body: `[${ends('x').body}]` }, `[${ends('x').body}]`],
      ['deeper in it', { body: `{"a":${ends('x').body}}` }, `{"a":${ends('x').body}}`],
    ];
    for (const [n, [where, mode, output]] of answers.entries()) {
      server.mode = mode;
      ask(`resp_${n}`, `call_${n}`);
      expect([where, (await told(n + 1)).at(-1)]).toEqual([where, output]);
    }
    await goesOn();
  });

  test('must be server tools: a page’s answer is passed on unchanged, from a frame or its data channel', async () => {
    await world.open(node);
    world.want();
    ask('resp_1', { callId: 'call_1', name: 'show' });
    answerOfPage('call_1', JSON.parse(ends('x').body) as unknown);
    expect(await told()).toEqual([ends('x').body]);
    server.mode = 'hang';
    ask('resp_2', 'call_2');
    world.hear(answered('call_2', 'item_page'));
    await goesOn();
  });

  test('are no longer called once it has ended, and end it once', async () => {
    await openWithHanging(['call_1']);
    world.endSession();
    await world.pass(2000);
    await saved('dropped');
    server.mode = ends('late');
    ask('resp_2', 'call_2');
    await world.pass(2000);
    expect(server.requests).toHaveLength(1);
    expect(world.endReason).toBe('closed_by_client');
  });
});
