import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { node, useCalls, world } from './calls-world.ts';

useCalls();

describe('A call that is to end', () => {
  beforeEach(async () => void (await world.open(node)));

  test('is hung up even if the database goes away right after that is saved', async () => {
    world.afterSave = ({ state }) => {
      world.database.isAway = state === 'closing';
    };
    world.endSession();
    await world.pass(2000);
    expect(world.provider.live.size).toBe(0);
    world.afterSave = () => undefined;
    world.database.isAway = false;
    await world.pass(10_000);
    expect(await world.call()).toMatchObject({ state: 'closed' });
  });

  test('is hung up even if the database goes away after a failed try', async () => {
    world.provider.isAway = true;
    world.endSession();
    await node.settled();
    world.database.isAway = true;
    world.provider.isAway = false;
    await world.pass(2000);
    expect(world.provider.live.size).toBe(0);
  });

  test('is hung up even if its session cannot be ended', async () => {
    world.endSession = () => {
      throw new Unavailable('registry', 'away');
    };
    for (let times = 0; times < 3; times += 1) world.hear({ type: 'frameTooLong' });
    await node.settled();
    await world.pass(2000);
    expect(world.provider.live.size).toBe(0);
  });

  test('and cannot be hung up before the provider must have ended it is closed once its usage is counted', async () => {
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

  test('because of an answer that proves its end only together with another node’s is closed once its usage is counted', async () => {
    world.provider.deaf.add('rtc_1');
    const answer = world.provider.hold();
    world.endSession();
    await expect.poll(() => world.provider.hangUps).toHaveLength(1);
    world.provider.before = () => undefined;
    const call = await world.call();
    await world.save({ ...call, hangup: 'asked', version: call.version + 1 }, call.version);
    world.metering.isAway = true;
    world.sideband.leave();
    await turn();
    answer();
    await node.settled();
    expect(await world.call()).toMatchObject({ state: 'closing', hangup: 'asked' });
    world.metering.isAway = false;
    await world.pass(5000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
  });

  test('is charged until the hang-up, however long the database is away', async () => {
    const at = world.clock.now();
    world.database.isAway = world.metering.isAway = true;
    await world.pass(60_000);
    world.database.isAway = world.metering.isAway = false;
    await world.pass(20_000);
    expect(await world.call()).toMatchObject({ state: 'closed' });
    // The gap starts when the node let go of the call.
    expect(world.metering.gaps).toEqual([{ fromMs: at + 7000, untilMs: expect.any(Number) }]);
    expect(world.metering.gaps[0]?.untilMs).toBeLessThan(at + 22_000);
  });

  test('and is metered by the clock is charged until the hang-up, however long the database is away', async () => {
    world.provider.capabilities = { ...world.provider.capabilities, meter: 'clock' };
    world.addSession('s:1');
    await world.open(node, 's:1');
    world.database.isAway = world.metering.isAway = true;
    await world.pass(60_000);
    world.database.isAway = world.metering.isAway = false;
    await world.pass(20_000);
    const told = world.metering.heard.map((event) => (event as { ms?: number }).ms ?? 0);
    expect(Math.max(...told)).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...told)).toBeLessThan(22_000);
  });
});

test('A call that is lost again before its record could say that it was heard again has two gaps', async () => {
  await world.open(node);
  const at = world.clock.now();
  world.provider.isAway = true;
  world.sideband.close();
  await turn();
  await world.pass(1000);
  world.database.isAway = world.metering.isAway = true;
  world.provider.isAway = false;
  await world.pass(8000);
  expect(node.sidebands).toBe(0);
  world.database.isAway = world.metering.isAway = false;
  await world.pass(3000);
  expect(node.sidebands).toBe(1);
  // The call was heard again after a second, until its node let go of it.
  expect(world.metering.gaps).toEqual([
    { fromMs: at, untilMs: at + 1250 },
    { fromMs: at + 7000, untilMs: expect.any(Number) },
  ]);
  expect(world.metering.gaps[1]?.untilMs).toBeGreaterThanOrEqual(at + 9000);
});
