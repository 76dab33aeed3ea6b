import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { VoiceCalls } from '../../../src/calls/voice-calls.ts';
import { CallsWorld } from './calls-world.ts';

describe('A call that is to end', () => {
  let world: CallsWorld;
  let node: VoiceCalls;

  beforeEach(async () => {
    world = await CallsWorld.start();
    node = await world.addNode();
    await world.open(node);
  });

  test('and cannot be hung up before the provider must have ended it is closed once what it used is counted', async () => {
    world.provider.isAway = true;
    world.endSession();
    await node.settled();
    world.metering.isAway = true;
    world.clock.advance(3_600_000);
    await world.look();
    await world.look();
    expect(await world.call()).toMatchObject({ state: 'closing' });
    world.metering.isAway = false;
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'unconfirmed' });
  });

  test('by an answer that proves it only with what another node was answered is closed once what it used is counted', async () => {
    world.provider.deaf.add('rtc_1');
    let answer = (): void => undefined;
    world.provider.before = () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      });
    world.endSession();
    await expect.poll(() => world.provider.hangUps).toHaveLength(1);
    world.provider.before = () => undefined;
    const call = await world.call();
    await world.stores.calls.save({ ...call, hangup: 'asked', version: call.version + 1 }, call.version);
    world.metering.isAway = true;
    world.provider.sideband.leave();
    await turn();
    answer();
    await node.settled();
    expect(await world.call()).toMatchObject({ state: 'closing', hangup: 'asked' });
    world.metering.isAway = false;
    await world.pass(5000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
  });
});
