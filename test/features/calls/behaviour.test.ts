import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Behaviour } from '../../../src/protocol/behaviour.ts';
import { done, node, SESSION, started, useCalls, world } from './calls-world.ts';

const MINUTE_MS = 60_000;

describe('The agent of a call', () => {
  useCalls();

  async function open(behaviour: Behaviour): Promise<void> {
    world.setUp({ behaviour });
    await world.open(node);
  }

  const asked = () => world.sideband.asked;

  test.each([
    ['Hello there.', 'Say exactly: Hello there.'],
    [true, null],
  ] as const)('that should greet with %j speaks first, once', async (greeting, instructions) => {
    await open({ greeting });
    await world.pass(5000);
    expect(asked()).toEqual([{ type: 'respond', instructions }]);
  });

  test('waits for the visitor if it has no greeting', async () => {
    await open({});
    expect(asked()).toEqual([]);
  });

  test('does not greet again in a further call, nor after another node takes the call over', async () => {
    await open({ greeting: true });
    await open({ greeting: true });
    expect(asked()).toEqual([]);
    const other = await world.addNode();
    world.kill(node);
    await world.pass(15_000);
    expect(other.held).toBe(1);
    expect(asked()).toEqual([]);
  });

  test('greets in the first call that opens, if those before it failed or were given up', async () => {
    world.provider.isAway = true;
    await expect(open({ greeting: true })).rejects.toThrow('no call');
    world.provider.isAway = false;
    world.clock.advance(1);
    const page = new AbortController();
    world.afterSave = ({ state }) => {
      if (state === 'open') page.abort();
    };
    expect(await world.refusal(world.ask(node, SESSION, page.signal))).toBe('SERVICE_UNAVAILABLE');
    expect(await world.call()).toMatchObject({ openedAtMs: expect.any(Number), closeReason: 'create_failed' });
    await open({ greeting: true });
    expect(asked()).toEqual([{ type: 'respond', instructions: null }]);
  });

  /** Ages the session until it has a minute left. */
  function age(): void {
    world.change({ startedAtMs: world.clock.now() - 59 * MINUTE_MS });
  }

  test('says goodbye once, half a minute before the end of the session', async () => {
    age();
    await open({ wrapUp: 'See you soon.' });
    await world.pass(25_000);
    expect(asked()).toEqual([]);
    await world.pass(10_000);
    expect(asked()).toEqual([{ type: 'respond', instructions: 'Say exactly: See you soon.' }]);
  });

  const goodbye = { type: 'respond', instructions: 'Say exactly: See you soon.' };

  test('says goodbye once in a session, whichever node hears it and however many calls it has', async () => {
    age();
    await open({ wrapUp: 'See you soon.' });
    const second = await world.addNode();
    await world.pass(31_000);
    expect(asked()).toEqual([goodbye]);
    world.kill(node);
    await world.pass(12_000);
    expect([second.sidebands, asked()]).toEqual([1, []]);
    await world.open(second);
    await world.pass(2000);
    expect(asked()).toEqual([]);
    const third = await world.addNode();
    world.kill(second);
    await world.pass(12_000);
    expect([third.sidebands, asked()]).toEqual([1, []]);
  });

  test('says goodbye to the end before the last node stops', async () => {
    await open({ wrapUp: 'See you soon.' });
    const { sideband } = world.provider;
    const stopping = node.stop();
    await expect.poll(() => sideband.asked).toEqual([goodbye]);
    sideband.hear(started('resp_1'));
    await turn();
    sideband.hear(done('resp_1'));
    await stopping;
    expect([sideband.cancelled, sideband.asked, sideband.isClosed]).toEqual([[], [goodbye], true]);
    expect(await world.call()).toMatchObject({ wrappedUpAtMs: world.clock.now() });
  });

  test('says goodbye after what it is saying when the last node stops', async () => {
    await open({ wrapUp: true });
    const { sideband } = world.provider;
    sideband.hear(started('resp_1'));
    const stopping = node.stop();
    await expect.poll(() => sideband.asked).toHaveLength(1);
    sideband.hear(done('resp_1'));
    await turn();
    expect(sideband.isClosed).toBe(false);
    for (const event of [started('resp_2'), done('resp_2')]) sideband.hear(event);
    await stopping;
    expect(sideband.asked).toMatchObject([
      { type: 'message', role: 'system' },
      { type: 'respond', instructions: null },
    ]);
  });

  test('says no goodbye when a node stops whose calls another node takes', async () => {
    await open({ wrapUp: 'See you soon.' });
    const { sideband } = world.provider;
    await world.addNode();
    await node.stop();
    expect(sideband.asked).toEqual([]);
    expect(await world.call()).toMatchObject({ wrappedUpAtMs: null });
  });

  test('says goodbye once, half a minute before its budget is used up', async () => {
    await open({ wrapUp: 'See you soon.' });
    world.budgets.endMs = world.clock.now() + 40_000;
    await world.pass(5000);
    expect(asked()).toEqual([]);
    await world.pass(10_000);
    world.budgets.endMs = Infinity;
    await world.pass(5000);
    world.budgets.endMs = world.clock.now();
    await world.pass(5000);
    expect(asked()).toEqual([{ type: 'respond', instructions: 'Say exactly: See you soon.' }]);
  });

  test('is told that the end is near if it chooses its own words, and speaks as soon as it may', async () => {
    age();
    await open({ wrapUp: true });
    world.hear(started('resp_1'));
    await world.pass(35_000);
    expect(asked()).toEqual([{ type: 'message', role: 'system', text: expect.stringContaining('Say goodbye') }]);
    world.hear(done('resp_1'));
    expect(asked()[1]).toEqual({ type: 'respond', instructions: null });
  });

  test('asks once after a silence whether somebody is there, and again only after the visitor has spoken', async () => {
    await open({ silence: { askAfterSec: 20, say: 'Are you there?' } });
    await world.pass(19_500);
    expect(asked()).toEqual([]);
    await world.pass(1000);
    const question = { type: 'respond', instructions: 'Say exactly: Are you there?' };
    expect(asked()).toEqual([question]);
    world.hear(started('resp_1'));
    world.hear(done('resp_1'));
    await world.pass(25_000);
    expect(asked()).toEqual([question]);
    for (const isOn of [true, false]) world.hear({ type: 'speech', who: 'visitor', isOn });
    await world.pass(20_500);
    expect(asked()).toEqual([question, question]);
  });

  test('is told of the silence if it chooses its own words, and of nothing if the visitor writes meanwhile', async () => {
    await open({ silence: { askAfterSec: 20 } });
    await world.pass(15_000);
    const words = { type: 'transcript', item: 'item_1', who: 'visitor', text: 'Hello.', isWhole: true } as const;
    world.hear(words);
    await world.pass(15_000);
    expect(asked()).toEqual([]);
    await world.pass(5500);
    expect(asked()).toEqual([
      { type: 'message', role: 'system', text: expect.stringContaining('whether somebody is there') },
      { type: 'respond', instructions: null },
    ]);
  });
});
