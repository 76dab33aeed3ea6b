import { beforeEach, describe, expect, test } from 'vitest';
import type { BusMessage } from '../../../src/protocol/bus.ts';
import { node, SESSION, useCalls, world } from './calls-world.ts';

type Told = Extract<BusMessage, { type: 'call.told' }>;

describe('The clients of a session', () => {
  useCalls();
  let told: Told[];

  beforeEach(() => {
    told = [];
    world.bus.subscribe((message) => {
      if (message.type === 'call.told') told.push(message);
    });
  });

  const events = (): string[] => told.map(({ event }) => event);
  const say = (...types: readonly ('speaking' | 'listening')[]): void => {
    for (const type of types) world.hear({ type });
  };

  test('are told that its call is open, who speaks, and that it is over', async () => {
    const { id: callId } = await world.open(node);
    say('speaking', 'listening');
    world.sideband.endWith('remote');
    await node.settled();
    expect(told).toEqual(
      ['ready', 'speaking', 'listening', 'over'].map((event) => ({
        type: 'call.told',
        sessionId: SESSION,
        callId,
        event,
      })),
    );
  });

  test('are told only what changed', async () => {
    await world.open(node);
    say('speaking', 'speaking', 'listening', 'listening', 'speaking');
    expect(events()).toEqual(['ready', 'speaking', 'listening', 'speaking']);
  });

  test('are told at most four changes a second, and the last one when it is repeated', async () => {
    await world.open(node);
    say('speaking', 'listening', 'speaking', 'listening', 'speaking', 'listening', 'speaking');
    expect(events().slice(1)).toEqual(['speaking', 'listening', 'speaking', 'listening']);
    world.clock.advance(999);
    say('speaking');
    expect(events()).toHaveLength(5);
    world.clock.advance(1);
    say('speaking');
    expect(events().slice(5)).toEqual(['speaking']);
  });

  test('are told nothing of a call that never opened', async () => {
    world.provider.isAway = true;
    await world.refusal(world.ask(node));
    expect((await world.call()).state).toBe('closed');
    expect(events()).toEqual([]);
  });

  test('are told once, by its ref, that a call is over that another has replaced', async () => {
    const first = await world.open(node);
    const second = await world.open(node);
    await world.pass(1250);
    expect(told.map(({ callId, event }) => [callId, event])).toEqual([
      [first.id, 'ready'],
      [second.id, 'ready'],
      [first.id, 'over'],
    ]);
  });
});
