import { beforeEach, describe, expect, test } from 'vitest';
import type { CallFrame } from '../../../src/protocol/call-frames.ts';
import type { UpstreamEvent } from '../../../src/upstream/contract.ts';
import { node, SESSION, useCalls, world } from './calls-world.ts';

type Transcript = Extract<CallFrame, { type: 'transcript' }>;

const lookUp = { kind: 'client_tool', name: 'look_up' };

function words(item: string, text: string, isWhole = false, who: 'visitor' | 'agent' = 'agent'): UpstreamEvent {
  return { type: 'transcript', item, who, text, isWhole };
}

function asks(responseId: string, ...callIds: readonly string[]): UpstreamEvent {
  const calls = callIds.map((callId) => ({ callId, name: 'look_up', arguments: '{"q":1}' }));
  return { type: 'toolsAsked', responseId, calls };
}

describe('The pages of a call', () => {
  useCalls();
  beforeEach(() => world.setUpChannel('none', { tools: [lookUp, { kind: 'server_tool', name: 'ours' }] }));

  const take = (): CallFrame[] => world.shown.splice(0);
  const asked = (): unknown[] => world.askedFor('respond').map(({ instructions }) => instructions);
  const items = (): unknown[] => world.askedFor('message');
  const outputs = (): unknown[] => world.askedFor('tool_output');

  describe('that subscribe to it', () => {
    beforeEach(async () => {
      await world.open(node);
      world.want();
      take();
    });

    test('see all words of an item so far, gathered for 150 ms', () => {
      world.hear(words('i1', 'Good'), words('i1', ' morning'));
      expect(take()).toEqual([]);
      world.gather();
      expect(take()).toEqual([{ type: 'transcript', id: 'i1', who: 'agent', text: 'Good morning', final: false }]);
      world.hear(words('i1', 'Good morning.', true));
      world.gather();
      expect(take()).toEqual([{ type: 'transcript', id: 'i1', who: 'agent', text: 'Good morning.', final: true }]);
    });

    test('get at most eight frames a second, and the newest words in the end', () => {
      let within = 0;
      for (let step = 0; step < 10; step += 1) {
        world.hear(words('i1', `${step}`), words('i2', `${step}`, false, 'visitor'));
        world.gather(99);
        within = world.shown.length;
      }
      expect(within).toBeLessThanOrEqual(8);
      world.gather(1000);
      const texts = (take() as Transcript[]).filter(({ id }) => id === 'i2').map(({ text }) => text);
      expect(texts.at(-1)).toBe('0123456789');
    });

    test('see only the last 2 KiB of longer texts, in whole characters, and are told so', () => {
      world.hear(words('i1', 'a'.repeat(10) + 'é'.repeat(1020) + '€', true));
      world.gather();
      const [frame] = take() as Transcript[];
      expect(frame).toMatchObject({ cut: true, final: true });
      expect(Buffer.byteLength(frame?.text ?? '')).toBeLessThanOrEqual(2048);
      expect(frame?.text).toMatch(/^a*é+€$/);
    });

    test('are told how much of an interrupted answer was heard', () => {
      world.hear(words('i1', 'A long story', true), { type: 'transcriptCut', item: 'i1', atMs: 900 });
      world.gather();
      expect(take()).toMatchObject([{ text: 'A long story', final: true, cutAtMs: 900 }]);
    });

    test('are told each change of speaker once, at once', () => {
      const speech = (who: 'visitor' | 'agent', isOn: boolean): UpstreamEvent => ({ type: 'speech', who, isOn });
      world.hear(speech('visitor', true), speech('visitor', true), speech('visitor', false), speech('agent', true));
      expect(take()).toEqual([
        { type: 'speech', who: 'visitor', on: true },
        { type: 'speech', who: 'visitor', on: false },
        { type: 'speech', who: 'agent', on: true },
      ]);
    });

    test('get nothing more once no node has such a socket, or has not said so for half a minute', async () => {
      world.hear(words('i1', 'one'));
      world.want(false);
      world.gather();
      expect(take()).toEqual([]);
      world.want();
      take();
      await world.pass(30_000);
      world.hear(words('i1', 'two'));
      world.gather();
      expect(take()).toEqual([]);
      expect(world.timers.size).toBe(0);
    });

    test('send a text once, which the agent answers, and which is shown', () => {
      world.request({ type: 'say', id: 'm1', text: 'When do you open?' });
      world.request({ type: 'say', id: 'm1', text: 'When do you open?' });
      expect(world.answers).toEqual([null, null]);
      expect(items()).toMatchObject([{ type: 'message', role: 'user', text: 'When do you open?' }]);
      expect(asked()).toEqual([null]);
      world.gather();
      expect(take()).toMatchObject([{ type: 'transcript', who: 'visitor', text: 'When do you open?', final: true }]);
    });

    test('see nothing of an operator’s whisper, which the agent does not answer', () => {
      const told: unknown[] = [];
      world.bus.subscribe((message) => void (message.type === 'call.whispered' && told.push(message)));
      const say = (request: string, untilMs: number, sessionId = SESSION): void =>
        world.bus.publish({ type: 'call.whisper', sessionId, request, untilMs, text: 'offer the refund' });
      say('r', world.clock.now() + 2000);
      say('late', world.clock.now());
      say('other', world.clock.now() + 2000, 'another');
      world.gather(1000);
      expect(told).toEqual([{ type: 'call.whispered', request: 'r', isTold: true }]);
      expect(items()).toEqual([{ id: 'sb_whisper_r', type: 'message', role: 'system', text: 'offer the refund' }]);
      expect([asked(), take()]).toEqual([[], []]);
    });

    test('see a text before the answer to it, even if that comes at once', () => {
      world.sideband.createResponse = () => world.hear(words('a1', 'At nine.', true));
      world.request({ type: 'say', id: 'm1', text: 'When do you open?' });
      world.gather();
      expect(take()).toMatchObject([{ text: 'When do you open?' }, { text: 'At nine.' }]);
    });

    test('send no text after the page was told that it was not sent', () => {
      world.request({ type: 'say', id: 'm1', text: 'late' }, world.clock.now());
      world.request({ type: 'say', id: 'm2', text: 'of another session' }, world.clock.now() + 2000, 'another');
      expect(world.answers).toEqual([]);
      expect(items()).toEqual([]);
    });

    test('have no button to hold if the agent hears its visitor all the time', () => {
      world.request({ type: 'talk', on: true });
      world.request({ type: 'talk', on: false });
      expect(world.answers).toEqual(['INVALID_REQUEST', 'INVALID_REQUEST']);
      expect([world.sideband.asked, take()]).toEqual([[], []]);
    });

    test('run tools: first answers count, and the agent goes on once all tools of a response are answered', () => {
      world.hear(asks('resp_1', 'call_1', 'call_2'), asks('resp_1', 'call_1', 'call_2'));
      const tool = { type: 'tool', name: 'look_up', arguments: '{"q":1}' };
      expect(take()).toEqual([
        { ...tool, id: 'call_1' },
        { ...tool, id: 'call_2' },
      ]);
      world.request({ type: 'tool_result', id: 'call_2', output: { open: true } });
      expect(asked()).toEqual([]);
      world.request({ type: 'tool_result', id: 'call_2', output: 'forged' });
      world.request({ type: 'tool_result', id: 'call_9', output: 'forged' });
      world.request({ type: 'tool_result', id: 'call_1', output: 'from nine' });
      expect(world.answers).toEqual([null, 'TOOL_UNKNOWN', 'TOOL_UNKNOWN', null]);
      expect(outputs()).toEqual([
        { id: 'sb_call_2', type: 'tool_output', callId: 'call_2', output: '{"open":true}' },
        { id: 'sb_call_1', type: 'tool_output', callId: 'call_1', output: 'from nine' },
      ]);
      expect(asked()).toEqual([null]);
      expect(world.settled).toEqual(['call_2', 'call_1']);
    });

    test('have 30 seconds to answer a tool', async () => {
      world.hear(asks('resp_1', 'call_1'));
      await world.pass(29_750);
      expect(outputs()).toEqual([]);
      await world.pass(250);
      expect(outputs()).toMatchObject([{ callId: 'call_1', output: '{"error":"timed_out"}' }]);
      world.request({ type: 'tool_result', id: 'call_1', output: 1 });
      expect(world.answers).toEqual(['TOOL_UNKNOWN']);
    });

    test('are not asked for server tools, unknown tools or oversized arguments, which are answered for them', () => {
      const call = (callId: string, name: string, args: string) => ({ callId, name, arguments: args });
      world.hear({
        type: 'toolsAsked',
        responseId: 'resp_1',
        calls: [call('c1', 'ours', '{}'), call('c2', 'made_up', '{}'), call('c3', 'look_up', 'x'.repeat(20_000))],
      });
      expect(take()).toEqual([]);
      world.request({ type: 'tool_result', id: 'c1', output: 'forged' });
      expect(world.answers).toEqual(['TOOL_UNKNOWN']);
      expect(outputs()).toMatchObject([
        { callId: 'c1', output: '{"error":"failed"}' },
        { callId: 'c2', output: '{"error":"failed"}' },
        { callId: 'c3', output: '{"error":"too_large"}' },
      ]);
    });

    test('may answer tools while the call is not heard, and the provider is told later', async () => {
      world.hear(asks('resp_1', 'call_1'));
      await world.lose();
      world.request({ type: 'tool_result', id: 'call_1', output: 'kept' });
      world.request({ type: 'say', id: 'm1', text: 'hello' });
      expect(world.answers).toEqual([null, 'CALL_NOT_OPEN']);
      await world.pass(3000);
      expect(outputs()).toMatchObject([{ callId: 'call_1', output: 'kept' }]);
    });
  });

  describe('whose visitor holds a button to speak', () => {
    const talk = (...presses: readonly boolean[]): void => {
      for (const on of presses) world.request({ type: 'talk', on });
    };
    const told = (): unknown[] => world.sideband.asked.map(({ type }) => type);

    beforeEach(async () => {
      world.setUp({ behaviour: { turns: { detect: 'push' } } });
      await world.open(node);
      world.want();
      take();
    });

    test('are heard from the press on, which interrupts the agent, and answered once the provider has the speech', () => {
      talk(true);
      expect(told()).toEqual(['clear_input', 'clear']);
      talk(false);
      expect(told().slice(2)).toEqual(['commit_input']);
      world.hear({ type: 'inputCommitted' });
      expect(told().slice(3)).toEqual(['respond']);
      expect([world.answers, asked()]).toEqual([[null, null], [null]]);
      expect(take()).toEqual([
        { type: 'speech', who: 'visitor', on: true },
        { type: 'speech', who: 'visitor', on: false },
      ]);
    });

    test('are answered only after the button is finally released', () => {
      talk(true, false, true);
      world.hear({ type: 'inputCommitted' });
      expect(asked()).toEqual([]);
      talk(false);
      world.hear({ type: 'inputCommitted' });
      expect(asked()).toEqual([null]);
    });

    test('are told that nobody hears them at the moment', async () => {
      await world.lose();
      talk(true, false);
      expect(world.answers).toEqual(['CALL_NOT_OPEN', 'CALL_NOT_OPEN']);
    });

    test('are heard to the end by a node that takes the call over while the button is held', async () => {
      talk(true);
      world.kill(node);
      await world.addNode();
      await world.pass(15_000);
      talk(false);
      world.hear({ type: 'inputCommitted' });
      // Waits for a response that the former node may have left running.
      await world.pass(10_000);
      expect(told()).toEqual(['commit_input', 'respond']);
    });
  });

  test('are told the state of the call', async () => {
    await world.open(node);
    world.endSession();
    await world.pass(2000);
    const states = take().map((frame) => (frame.type === 'call' ? [frame.state, frame.reason] : frame));
    expect(states).toEqual([
      ['connecting', undefined],
      ['open', undefined],
      ['closing', 'session_ended'],
      ['closed', 'session_ended'],
    ]);
  });

  test('that do not subscribe see no words and cannot run tools', async () => {
    await world.open(node);
    take();
    world.hear(words('i1', 'Good morning'), { type: 'speech', who: 'agent', isOn: true }, asks('resp_1', 'call_1'));
    world.gather();
    expect(take()).toEqual([]);
    expect(world.timers.size).toBe(0);
    expect(outputs()).toMatchObject([{ callId: 'call_1', output: '{"error":"unreachable"}' }]);
  });

  test('that arrive in the middle of an item are told that its beginning is missing', async () => {
    await world.open(node);
    world.hear(words('i1', 'Good'));
    world.want();
    take();
    world.hear(words('i1', ' morning'));
    world.gather();
    expect(take()).toMatchObject([{ text: ' morning', cut: true }]);
  });

  test('that were away for a moment in the middle of an item are told that its beginning is missing, until it is whole', async () => {
    await world.open(node);
    world.want();
    world.hear(words('i1', 'Good'));
    world.gather();
    world.want(false);
    world.want();
    take();
    world.hear(words('i1', ' morning'));
    world.gather();
    expect(take()).toEqual([{ type: 'transcript', id: 'i1', who: 'agent', text: ' morning', final: false, cut: true }]);
    world.hear(words('i1', 'Good morning.', true));
    world.gather();
    expect(take()).toEqual([{ type: 'transcript', id: 'i1', who: 'agent', text: 'Good morning.', final: true }]);
  });

  test('answer the provider themselves if they have a data channel', async () => {
    world.setUp({ dataChannel: 'open' });
    await world.open(node);
    world.want();
    take();
    world.hear(asks('resp_1', 'call_1'));
    expect(take()).toEqual([]);
    expect(outputs()).toEqual([]);
  });

  test('have their open tools answered once each by a node that takes the call over', async () => {
    await world.open(node);
    world.want();
    world.hear(asks('resp_1', 'call_1', 'call_2'));
    world.request({ type: 'tool_result', id: 'call_2', output: 'in time' });
    world.kill(node);
    await world.addNode();
    await world.pass(15_000);
    world.want(true, ['call_1']);
    world.want(true, ['call_1']);
    expect(outputs()).toMatchObject([{ callId: 'call_1', output: '{"error":"interrupted"}' }]);
    world.request({ type: 'tool_result', id: 'call_1', output: 'late' });
    expect(world.answers).toEqual([null, 'TOOL_UNKNOWN']);
  });
});
