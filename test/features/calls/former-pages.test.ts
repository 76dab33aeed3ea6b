import { beforeEach, describe, expect, test } from 'vitest';
import { CallSockets } from '../../../src/channel/call-sockets.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { CallFrame } from '../../../src/protocol/call-frames.ts';
import { UpstreamFault } from '../../../src/upstream/contract.ts';
import { node as former, other as present, SESSION, useCalls, world } from './calls-world.ts';

describe('The pages of a session whose call replaces another node’s', () => {
  useCalls(2);
  let sockets: CallSockets;
  let frames: CallFrame[];
  let answers: unknown[];

  beforeEach(() => {
    sockets = new CallSockets({ bus: world.bus, node: 'of the sockets', clock: world.clock });
    frames = [];
    answers = [];
    world.bus.subscribe(sockets.listeners);
    world.bus.subscribe({
      'call.answered': ({ code }) => answers.push(code),
      'call.whispered': ({ isTold }) => answers.push(isTold),
    });
    sockets.add(SESSION, { maxMessageBytes: undefined, send: (frame) => void frames.push(frame) });
  });

  const say = (id: string): void => world.request({ type: 'say', id, text: 'When do you open?' });
  const whisper = (request: string): void => {
    const untilMs = world.clock.now() + 2000;
    world.bus.publish({ type: 'call.whisper', sessionId: SESSION, request, untilMs, text: 'offer the refund' });
  };
  /** What was said in each call, the oldest call first. */
  const said = (): number[] =>
    world.provider.sidebands.map(({ asked }) => asked.filter(({ type }) => type === 'message').length);

  test('hear of it for as long as it is open, although the former one closes later', async () => {
    const [first, second] = [await world.open(former), await world.open(present)];
    for (let passed = 0; passed < 40; passed += 1) {
      await world.pass(1000);
      sockets.tick(world.clock.now());
    }
    const states = frames.flatMap((frame) => (frame.type === 'call' ? [`${frame.call} ${frame.state}`] : []));
    expect(states.indexOf(`${first.id} closed`)).toBeGreaterThan(states.indexOf(`${second.id} open`));
    frames.splice(0);
    world.hear({ type: 'speech', who: 'agent', isOn: true });
    expect(frames).toEqual([{ type: 'speech', who: 'agent', on: true }]);
  });

  test('are answered by its node alone while the provider does not hang up the former one', async () => {
    world.provider.before = (step) => {
      if (step === 'hangUp') throw new UpstreamFault('refused', 'not now', { status: 500 });
    };
    await world.open(former);
    await world.open(present);
    await world.pass(5000);
    expect([former.held, present.held]).toEqual([1, 1]);
    say('m1');
    whisper('w1');
    expect(answers).toEqual([null, true]);
    expect(said()).toEqual([0, 2]);
  });

  test('put nothing into the former one while it opens', async () => {
    await world.open(former);
    world.provider.before = (step) => {
      if (step !== 'create') return;
      say('m1');
      whisper('w1');
    };
    await world.open(present);
    expect([answers, said()]).toEqual([[], [0, 0]]);
    say('m1');
    expect([answers, said()]).toEqual([[null], [0, 1]]);
  });

  test('act in the former one again if it is given up before that one was closed', async () => {
    const first = await world.open(former);
    world.beforeSave = ({ id, state }) => {
      if (id === first.id && state === 'closing') throw new Unavailable('database', 'away');
    };
    await expect(world.open(present)).rejects.toThrow(Unavailable);
    say('m1');
    expect([answers, said()]).toEqual([[null], [1]]);
  });
});
