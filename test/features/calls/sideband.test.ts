import { beforeEach, describe, expect, test } from 'vitest';
import type { VoiceCalls } from '../../../src/calls/voice-calls.ts';
import { CallsWorld, SESSION } from './calls-world.ts';

describe('A call whose sideband is lost', () => {
  let world: CallsWorld;
  let node: VoiceCalls;

  beforeEach(async () => {
    world = await CallsWorld.start();
    node = await world.addNode();
    await world.open(node);
  });

  const lose = async (): Promise<number> => {
    world.provider.sideband.close();
    await Promise.resolve();
    await node.settled();
    return world.clock.now();
  };

  test('is heard again soon, and the gap is told', async () => {
    const at = await lose();
    expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: at });
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: null });
    expect(world.provider.sidebands).toHaveLength(2);
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: at + 250 }]);
  });

  test('is hung up when nobody can hear it for long, its session ends, and all of it was a gap', async () => {
    world.provider.before = (step) => {
      world.provider.isAway = step === 'attach';
    };
    const at = await lose();
    await world.pass(19_750);
    expect(await world.call()).toMatchObject({ state: 'open' });
    await world.pass(250);
    expect(await world.call()).toMatchObject({ closeReason: 'unheard' });
    expect(world.sessions.get(SESSION)?.endReason).toBe('upstream_ended');
    expect(world.provider.live.size).toBe(0);
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: at + 20_000 }]);
  });

  test.each([
    ['as its session ends', (): unknown => world.endSession(), 0],
    ['while its hang-up does not come about', (): unknown => undefined, 1000],
  ])('%s is a gap until the provider is heard to hang up', async (_when, endLate, endedMs) => {
    world.provider.before = (step) => {
      world.provider.isAway = step === 'hangUp';
    };
    if (endedMs > 0) world.endSession();
    await node.settled();
    await world.pass(endedMs);
    const lostAtMs = world.clock.now();
    world.provider.sideband.close();
    endLate();
    await node.settled();
    await world.pass(3000);
    world.provider.before = () => {
      world.provider.isAway = false;
    };
    await world.pass(20_000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    const gaps = world.metering.gaps.filter(({ fromMs, untilMs }) => untilMs > fromMs);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.fromMs).toBe(lostAtMs);
    expect((gaps[0]?.untilMs ?? 0) - lostAtMs).toBeGreaterThanOrEqual(3000);
  });

  test('and that ends while it is dialled again holds no sideband', async () => {
    await lose();
    let release = (): void => undefined;
    world.provider.before = (step) =>
      step === 'attach' &&
      new Promise<void>((resolve) => {
        release = resolve;
      });
    world.clock.advance(250);
    await node.tick();
    await expect.poll(async () => (await world.call()).unheardSinceMs).not.toBeNull();
    world.provider.sidebands[0]?.hear({ type: 'over', reason: 'remote' });
    await expect.poll(async () => (await world.call()).state).toBe('closed');
    release();
    await node.settled();
    expect(world.provider.sidebands.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });

  test('is over when the provider knows it no more', async () => {
    world.provider.live.clear();
    await lose();
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'lost', hangup: 'already_over' });
  });
});

test('A call that may go unheard for ever does not go idle for that, and does once it is heard to be silent', async () => {
  const world = await CallsWorld.start();
  world.unheardSec = 0;
  world.maxIdleSec = 10;
  const node = await world.addNode();
  await world.open(node);
  world.provider.before = (step) => {
    world.provider.isAway = step === 'attach';
  };
  world.provider.sideband.close();
  await world.pass(25_000);
  expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: expect.any(Number) });
  world.provider.before = () => {
    world.provider.isAway = false;
  };
  await world.pass(2000);
  expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: null });
  await world.pass(11_000);
  expect(await world.call()).toMatchObject({ closeReason: 'session_idle' });
});

test('A silent call goes idle, however often its sideband is lost and soon there again', async () => {
  const world = await CallsWorld.start();
  world.maxIdleSec = 10;
  const node = await world.addNode();
  await world.open(node);
  for (let lost = 0; lost < 6; lost += 1) {
    world.provider.sideband.close();
    await world.pass(2000);
  }
  expect(world.provider.sidebands.length).toBeGreaterThan(3);
  expect(await world.call()).toMatchObject({ closeReason: 'session_idle' });
});

describe('While the database is away', () => {
  let world: CallsWorld;
  let node: VoiceCalls;

  beforeEach(async () => {
    world = await CallsWorld.start();
    node = await world.addNode();
    await world.open(node);
    world.database.isAway = true;
  });

  test('a session that ends has its call hung up all the same, and the record says so later', async () => {
    world.endSession();
    await node.settled();
    expect(world.provider.live.size).toBe(0);
    world.database.isAway = false;
    await world.pass(500);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'session_ended' });
    expect(world.wrongs).toEqual([]);
  });

  test('a node lets go of its sidebands before others take its calls, and hears them again', async () => {
    await world.pass(6750);
    expect(node.sidebands).toBe(1);
    await world.pass(250);
    expect(node.sidebands).toBe(0);
    expect(world.provider.live.size).toBe(1);
    world.database.isAway = false;
    await world.pass(500);
    expect(node.sidebands).toBe(1);
    expect(world.metering.gaps).toHaveLength(1);
  });

  test('calls that cannot be held for SIDEBAND_LOST_SEC are hung up, and closed when it is back', async () => {
    await world.pass(20_000);
    expect(world.provider.live.size).toBe(1);
    await world.pass(500);
    expect(world.provider.live.size).toBe(0);
    const asked = world.provider.hangUps.length;
    await world.pass(5000);
    expect(world.provider.hangUps.length - asked).toBeLessThan(3);
    world.database.isAway = false;
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'unheard' });
    expect(world.sessions.get(SESSION)?.endReason).toBe('upstream_ended');
  });
});

test('Calls whose usage waits for the database for too long are closed', async () => {
  const world = await CallsWorld.start();
  const node = await world.addNode();
  await world.open(node);
  world.metering.waitingSinceMs = world.clock.now();
  await world.pass(20_000);
  expect(await world.call()).toMatchObject({ state: 'open' });
  await world.pass(250);
  expect(await world.call()).toMatchObject({ closeReason: 'unheard' });
});
