import { beforeEach, describe, expect, test } from 'vitest';
import { CallOver } from '../../../src/upstream/contract.ts';
import { node, SESSION, useCalls, world } from './calls-world.ts';

useCalls();

/** From now on the provider can do everything but this. */
const without = (missing: 'attach' | 'hangUp'): void => {
  world.provider.before = (step) => {
    world.provider.isAway = step === missing;
  };
};
const isBack = (): void => {
  world.provider.before = () => {
    world.provider.isAway = false;
  };
};

describe('A call whose sideband is lost', () => {
  beforeEach(async () => void (await world.open(node)));

  test('is soon heard again, and the gap is reported', async () => {
    const at = await world.lose();
    expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: at });
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: null });
    expect(world.provider.sidebands).toHaveLength(2);
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: at + 250 }]);
  });

  test('has its gap counted before its record says that it is heard again, because its node may die right after', async () => {
    const at = await world.lose();
    let counted: unknown;
    world.beforeSave = ({ unheardSinceMs }) => {
      if (unheardSinceMs === null) counted ??= [...world.metering.gaps];
    };
    await world.pass(250);
    expect(await world.call()).toMatchObject({ unheardSinceMs: null });
    expect(counted).toEqual([{ fromMs: at, untilMs: at + 250 }]);
    expect(world.metering.gaps).toHaveLength(1);
  });

  test('has its setup restored when it is heard again, because its page may have changed it meanwhile', async () => {
    await world.lose();
    await world.pass(250);
    expect(world.provider.sidebands.map(({ restored }) => restored)).toEqual([0, 1]);
  });

  test('keeps its page’s changes if the page may change it', async () => {
    world.setUp({ forbidsOverrides: false });
    await world.open(node);
    await world.lose();
    await world.pass(250);
    expect(world.provider.sidebands.map(({ restored }) => restored)).toEqual([0, 0, 0]);
    expect(world.provider.sidebands.map(({ mayBeSpeaking }) => mayBeSpeaking)).toEqual([false, false, true]);
  });

  test('because its page caused an event too long to read is a gap, and the third time closes it with its session', async () => {
    for (const times of [1, 2, 3]) {
      expect(await world.call()).toMatchObject({ state: 'open' });
      world.hear({ type: 'frameTooLong' });
      await world.lose();
      await world.pass(250);
      const unreadable = Array.from({ length: times }, () => ({ type: 'usageUnreadable', key: undefined }));
      expect(world.metering.heard).toEqual(unreadable);
    }
    expect(await world.call()).toMatchObject({ closeReason: 'unheard' });
    expect(world.endReason).toBe('upstream_ended');
    expect(world.provider.live.size).toBe(0);
  });

  test('is hung up if nobody can hear it for long: its session ends, and all that time is a gap', async () => {
    without('attach');
    const at = await world.lose();
    await world.pass(19_750);
    expect(await world.call()).toMatchObject({ state: 'open' });
    await world.pass(250);
    expect(await world.call()).toMatchObject({ closeReason: 'unheard' });
    expect(world.endReason).toBe('upstream_ended');
    expect(world.provider.live.size).toBe(0);
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: at + 20_000 }]);
  });

  test.each([
    ['as its session ends', (): unknown => world.endSession(), 0],
    ['while its hang-up does not come about', (): unknown => undefined, 1000],
  ])('%s is a gap until the provider is heard to hang up', async (_when, endLate, endedMs) => {
    without('hangUp');
    if (endedMs > 0) world.endSession();
    await node.settled();
    await world.pass(endedMs);
    const lostAtMs = world.clock.now();
    world.sideband.close();
    endLate();
    await node.settled();
    await world.pass(3000);
    isBack();
    await world.pass(20_000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    const gaps = world.metering.gaps.filter(({ fromMs, untilMs }) => untilMs > fromMs);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.fromMs).toBe(lostAtMs);
    expect((gaps[0]?.untilMs ?? 0) - lostAtMs).toBeGreaterThanOrEqual(3000);
  });

  test.each([
    ['and whose hang-up fails, is a gap from then on', 'fails', 1],
    ['and whose hang-up comes about, went with the call', 'comes about', 0],
  ] as const)('while it is hung up, %s', async (_what, how, gaps) => {
    const answer = world.provider.hold();
    world.endSession();
    await expect.poll(() => world.provider.hangUps).toHaveLength(1);
    const lostAtMs = world.clock.now();
    world.sideband.close();
    await Promise.resolve();
    world.provider.isAway = how === 'fails';
    answer();
    await node.settled();
    await world.pass(3000);
    world.provider.isAway = false;
    await world.pass(10_000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    expect(world.metering.gaps).toHaveLength(gaps);
    for (const { fromMs, untilMs } of world.metering.gaps) {
      expect(fromMs).toBe(lostAtMs);
      expect(untilMs).toBeGreaterThanOrEqual(lostAtMs + 3000);
    }
  });

  test('because its node let go of it during a hang-up is a gap until the hang-up takes effect', async () => {
    const answer = world.provider.hold();
    world.endSession();
    await expect.poll(() => world.provider.hangUps).toHaveLength(1);
    world.clock.advance(7500);
    const lostAtMs = world.clock.now();
    node.guard();
    world.clock.advance(500);
    answer();
    await node.settled();
    expect(world.metering.gaps).toEqual([{ fromMs: lostAtMs, untilMs: lostAtMs + 500 }]);
  });

  test.each([
    ['while it is open', (): unknown => undefined],
    ['while it is closing', (): unknown => world.endSession()],
  ])('%s and is over reports the gap before it is closed, because nobody does afterwards', async (_when, end) => {
    let gapsWhenClosed: number | undefined;
    world.beforeSave = ({ state }) => {
      if (state === 'closed') gapsWhenClosed ??= world.metering.gaps.length;
    };
    world.provider.before = () => {
      world.provider.isAway = true;
    };
    end();
    await world.lose();
    await world.pass(3000);
    isBack();
    world.provider.live.clear();
    await world.pass(10_000);
    expect(await world.call()).toMatchObject({ state: 'closed' });
    expect(gapsWhenClosed).toBe(world.metering.gaps.length);
    expect(gapsWhenClosed).toBeGreaterThan(0);
  });

  test('and that ends while it is being dialled again keeps no sideband', async () => {
    await world.lose();
    const release = world.provider.hold('attach');
    world.clock.advance(250);
    await node.tick();
    await expect.poll(async () => (await world.call()).unheardSinceMs).not.toBeNull();
    world.provider.deaf.add('rtc_1');
    world.endSession();
    await expect.poll(async () => (await world.call()).hangup).toBe('asked');
    release();
    await node.settled();
    await world.pass(3000);
    expect(await world.call()).toMatchObject({ state: 'closed' });
    expect(world.provider.sidebands.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });

  test('is over if the provider closed the sideband and no longer knows the call', async () => {
    world.provider.end('rtc_1');
    await node.settled();
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'lost', hangup: 'already_over' });
    expect(world.provider.hangUps).toEqual([]);
  });

  test('and that the provider once wrongly does not know is hung up', async () => {
    world.provider.before = (step) => {
      if (step === 'attach') throw new CallOver();
    };
    await world.lose();
    await world.pass(250);
    expect(world.provider.live.size).toBe(0);
    await world.pass(4000);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'lost', hangup: 'confirmed' });
  });
});

test('A call that may go unheard for ever does not go idle because of that, but does once it is heard to be silent', async () => {
  world.unheardSec = 0;
  world.maxIdleSec = 10;
  await world.open(await world.addNode());
  without('attach');
  world.sideband.close();
  await world.pass(25_000);
  expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: expect.any(Number) });
  isBack();
  await world.pass(2000);
  expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: null });
  await world.pass(11_000);
  expect(await world.call()).toMatchObject({ closeReason: 'session_idle' });
});

test('A silent call goes idle, however often its sideband is lost and soon restored', async () => {
  world.maxIdleSec = 10;
  await world.open(await world.addNode());
  for (let lost = 0; lost < 6; lost += 1) {
    world.sideband.close();
    await world.pass(2000);
  }
  expect(world.provider.sidebands.length).toBeGreaterThan(3);
  expect(await world.call()).toMatchObject({ closeReason: 'session_idle' });
});

describe('The session of an open call', () => {
  const heardForMs = (): number => (world.sessions.get(SESSION)?.heardUntilMs ?? 0) - world.clock.now();

  test('is told again and again that the call is heard, for some time ahead', async () => {
    await world.open(node);
    await world.pass(1000);
    for (let seconds = 0; seconds < 70; seconds += 10) {
      expect(heardForMs()).toBeGreaterThan(0);
      await world.pass(10_000);
    }
    world.hear({ type: 'over', reason: 'lost' });
    await node.settled();
    expect(heardForMs()).toBe(0);
  });

  test('is not told so for ever if the call’s node died, or nobody hears it', async () => {
    world.unheardSec = 0;
    await world.open(await world.addNode());
    await world.pass(1000);
    without('attach');
    world.sideband.close();
    await world.pass(60_000);
    expect(heardForMs()).toBeLessThanOrEqual(0);
  });
});

describe('While the database is away', () => {
  beforeEach(async () => {
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

  test('calls that cannot be held for SIDEBAND_LOST_SEC are hung up, and closed once it is back', async () => {
    await world.pass(20_000);
    expect(world.provider.live.size).toBe(1);
    await world.pass(500);
    expect(world.provider.live.size).toBe(0);
    const asked = world.provider.hangUps.length;
    await world.pass(5000);
    expect(world.provider.hangUps.length - asked).toBeLessThan(3);
    world.database.isAway = false;
    await world.pass(6000);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'unheard' });
    expect(world.endReason).toBe('upstream_ended');
  });
});

test('Calls whose usage waits for the database for too long are closed', async () => {
  await world.open(node);
  world.metering.waitingSinceMs = world.clock.now();
  await world.pass(20_000);
  expect(await world.call()).toMatchObject({ state: 'open' });
  await world.pass(250);
  expect(await world.call()).toMatchObject({ closeReason: 'unheard' });
});
