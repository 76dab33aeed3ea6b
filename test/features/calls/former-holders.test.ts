import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { node as owner, other, useCalls, world } from './calls-world.ts';

/** Ends the session while the provider is away, so that hang-ups fail from now on. */
async function endInVain(): Promise<void> {
  world.provider.isAway = true;
  world.endSession();
  await owner.settled();
}

describe('Of a call that another node took', () => {
  useCalls(2);
  beforeEach(async () => void (await world.open(owner)));

  test('a former holder that stood still for longer than a call may go unheard closes nothing', async () => {
    world.kill(owner);
    await world.pass(25_000);
    world.nodes.add(owner);
    owner.guard();
    await owner.settled();
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node });
    expect([owner.held, other.sidebands, world.provider.live.size]).toEqual([0, 1, 1]);
  });

  test('a former holder that let go of it reports no gap', async () => {
    await endInVain();
    world.kill(owner);
    await world.pass(7500);
    owner.guard();
    await turn();
    await world.pass(10_000);
    world.provider.isAway = false;
    await world.pass(30_000);
    expect(await world.call()).toMatchObject({ state: 'closed', ownerNode: other.node });
    expect(world.metering.gaps).toHaveLength(1);
    world.nodes.add(owner);
    await world.pass(3000);
    expect(owner.held).toBe(0);
    expect(world.metering.gaps).toHaveLength(1);
  });

  test.each([20, 0])(
    'the new holder holds on even if the database did not answer (SIDEBAND_LOST_SEC=%i)',
    async (seconds) => {
      world.unheardSec = seconds;
      world.kill(owner);
      world.afterSave = () => {
        world.afterSave = () => undefined;
        throw new Unavailable('database', 'no answer');
      };
      await world.pass(12_000);
      expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node, unheardSinceMs: null });
      expect(other.sidebands).toBe(1);
      world.endSession();
      await world.pass(3000);
      expect(world.provider.live.size).toBe(0);
    },
  );

  test('and whose node is dead the hang-up comes at once, even while this node holds the session’s former call', async () => {
    world.clock.advance(1);
    await world.open(other);
    await world.look();
    world.kill(other);
    world.endSession();
    await world.pass(750);
    expect(world.provider.live.size).toBe(0);
  });
});

describe('A closing call that nobody hears is one single gap until its hang-up, even if its node', () => {
  useCalls();
  beforeEach(async () => void (await world.open(owner)));

  const lose = async (): Promise<number> => {
    world.provider.isAway = true;
    world.sideband.close();
    await turn();
    return world.clock.now();
  };

  /** Another node takes the call, and the provider finally hangs up. */
  async function goOn(): Promise<void> {
    await world.addNode();
    await world.pass(15_000);
    world.provider.isAway = false;
    await world.pass(60_000);
    expect(await world.call()).toMatchObject({ state: 'closed', fence: 2 });
  }

  test('died long after it was lost and its session ended', async () => {
    const at = await lose();
    await world.pass(1000);
    world.endSession();
    await world.pass(25_000);
    world.kill(owner);
    await goOn();
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
    expect(world.metering.gaps[0]?.untilMs).toBeGreaterThan(at + 41_000);
  });

  test('died long after its session ended and it was lost', async () => {
    await endInVain();
    const at = await lose();
    await world.pass(25_000);
    world.kill(owner);
    await goOn();
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
    expect(world.metering.gaps[0]?.untilMs).toBeGreaterThan(at + 40_000);
  });

  test('stopped', async () => {
    await endInVain();
    await world.pass(2000);
    const at = world.clock.now();
    world.kill(owner);
    await owner.stop();
    world.clock.advance(30_000);
    await goOn();
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
    expect(world.metering.gaps[0]?.untilMs).toBeGreaterThan(at + 45_000);
  });
});

describe('A closing call that is metered by the clock', () => {
  useCalls(2);

  test('is reported once more by the node that takes it', async () => {
    world.provider.capabilities = { ...world.provider.capabilities, meter: 'clock' };
    await world.open(owner);
    await world.pass(1000);
    world.kill(owner);
    world.clock.advance(4000);
    world.endSession();
    await world.pass(15_000);
    expect(await world.call()).toMatchObject({ state: 'closed', ownerNode: other.node });
    const told = world.metering.heard.map((event) => (event as { ms?: number }).ms ?? 0);
    expect(Math.max(...told)).toBeGreaterThanOrEqual(5000);
  });
});
