import { beforeEach, describe, expect, test } from 'vitest';
import type { UpstreamEvent } from '../../../src/upstream/contract.ts';
import { done, node, SESSION, started, useCalls, world } from './calls-world.ts';

const MINUTE_MS = 60_000;

/** Events by which the visitor counts as having spoken. */
const words: [string, UpstreamEvent][] = [
  ['begins to speak', { type: 'speech', who: 'visitor', isOn: true }],
  ['has said something that is a turn, without a word of it being written down', { type: 'words' }],
  ['is written down', { type: 'transcript', item: 'item_1', who: 'visitor', text: 'Hello', isWhole: false }],
];

/** Events by which the visitor does not. */
const silence: UpstreamEvent[] = [
  { type: 'activity' },
  { type: 'speech', who: 'visitor', isOn: false },
  { type: 'speech', who: 'agent', isOn: true },
  { type: 'transcript', item: 'item_1', who: 'agent', text: 'Hello?', isWhole: true },
  { type: 'transcript', item: 'item_2', who: 'visitor', text: ' ', isWhole: true },
  // What the agent is told about earlier calls.
  { type: 'transcript', item: 'sb_recap', who: 'visitor', text: '{"agent": "Hello?"}', isWhole: true },
  started('resp_1'),
  done('resp_1'),
];

useCalls();

describe('The session of a new visitor', () => {
  const wordsDueAtMs = () => world.sessions.get(SESSION)?.wordsDueAtMs;

  /** A session with an open call, whose visitor must speak within a minute. */
  beforeEach(async () => {
    world.change({ wordsDueAtMs: world.clock.now() + MINUTE_MS });
    await world.open(node);
    await world.pass(1000);
  });

  test.each(words)('goes on at once when the visitor %s, and is told once', async (_how, event) => {
    world.hear(event);
    await node.settled();
    expect(world.spoken).toEqual([world.clock.now()]);
    world.hear(event);
    await world.pass(5000);
    expect(world.spoken).toHaveLength(1);
  });

  test('goes on when the visitor writes over a socket', async () => {
    world.request({ type: 'say', id: 'm_1', text: 'Hello' });
    await node.settled();
    expect(world.spoken).toHaveLength(1);
  });

  test('does not go on because of the agent’s words, silence, or what Switchboard adds', async () => {
    for (const event of silence) world.hear(event);
    await world.pass(MINUTE_MS - 2000);
    expect(world.spoken).toEqual([]);
    expect(await world.call()).toMatchObject({ state: 'open' });
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ closeReason: 'session_ended' });
  });

  test('is told again, with the same time, if its record did not get it', async () => {
    const dueAtMs = wordsDueAtMs();
    const at = world.clock.now();
    world.hear({ type: 'speech', who: 'visitor', isOn: true });
    await node.settled();
    world.change({ wordsDueAtMs: dueAtMs ?? 0 });
    await world.pass(1000);
    expect(world.spoken).toEqual([at]);
    await world.pass(2000);
    expect(world.spoken).toEqual([at, at]);
  });

  test('goes on even if the visitor speaks before the session is known to wait for it', async () => {
    await world.open(node);
    world.hear({ type: 'speech', who: 'visitor', isOn: true });
    await world.pass(1000);
    expect(world.spoken).toHaveLength(1);
  });

  test('goes on if its node dies, because the visitor may have been heard there, or have spoken since', async () => {
    const other = await world.addNode();
    world.kill(node);
    await world.pass(12_000);
    expect([other.held, world.spoken.length, wordsDueAtMs()]).toEqual([1, 1, 0]);
  });

  test('goes on while nobody can hear its call', async () => {
    world.provider.before = (step) => {
      world.provider.isAway = step === 'attach';
    };
    world.sideband.close();
    await world.pass(7000);
    expect(wordsDueAtMs()).toBe(0);
  });

  test('gets no goodbye while the visitor may still speak', async () => {
    world.setUp({ behaviour: { wrapUp: 'See you soon.' } });
    await world.open(node);
    await world.pass(50_000);
    expect(await world.call()).toMatchObject({ state: 'open' });
    expect(world.sideband.asked).toEqual([]);
  });
});

test('A session that does not wait for its visitor’s words is not told of them', async () => {
  await world.open(node);
  await world.pass(1000);
  world.hear({ type: 'speech', who: 'visitor', isOn: true });
  await world.pass(2000);
  expect(world.spoken).toEqual([]);
});
