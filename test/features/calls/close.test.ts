import { beforeEach, describe, expect, test } from 'vitest';
import type { VoiceCalls } from '../../../src/calls/voice-calls.ts';
import { CallsWorld, done, SESSION, started } from './calls-world.ts';

describe('A call', () => {
  let world: CallsWorld;
  let node: VoiceCalls;

  beforeEach(async () => {
    world = await CallsWorld.start();
    node = await world.addNode();
  });

  const endedBecause = () => world.sessions.get(SESSION)?.endReason ?? null;

  test('is cut off and hung up at once when its session ends, and confirmed a second later', async () => {
    await world.open(node);
    world.provider.sideband.hear(started('resp_1'));
    world.provider.sideband.answerCancel = () => world.provider.sideband.hear(done('resp_1'));
    world.endSession();
    await node.settled();
    expect(world.provider.sideband.cancelled).toEqual(['resp_1']);
    expect(await world.call()).toMatchObject({ state: 'closing', hangup: 'asked', closeReason: 'session_ended' });
    expect(world.provider.live.size).toBe(0);
    await world.pass(750);
    expect(world.provider.hangUps).toHaveLength(1);
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', hangupTries: 2 });
    expect(world.provider.sideband).toMatchObject({ isClosed: true, cancelled: ['resp_1'] });
    expect(await world.metrics.registry.metrics()).toContain('switchboard_call_hangup_seconds_sum 1');
    await world.look();
    expect(node.held).toBe(0);
  });

  test('is hung up at once, and closed once its usage is counted', async () => {
    await world.open(node);
    world.metering.isAway = true;
    world.endSession();
    await node.settled();
    await world.pass(3000);
    expect(world.provider.live.size).toBe(0);
    expect(await world.call()).toMatchObject({ state: 'closing' });
    world.metering.isAway = false;
    await world.pass(1000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    expect(world.wrongs).toEqual([]);
  });

  test('that the provider ended is closed once its usage is counted', async () => {
    await world.open(node);
    world.metering.isAway = true;
    world.provider.sideband.endWith('expired');
    await world.pass(1000);
    expect(await world.call()).toMatchObject({ state: 'open' });
    world.metering.isAway = false;
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'expired' });
  });
  test.each([
    ['and', false],
    ['also while the database is away, and', true],
  ])(
    'that nobody hears is hung up %s the final seconds that the provider then reports are metered',
    async (_how, isAway) => {
      world.provider.capabilities = { ...world.provider.capabilities, meter: 'clock' };
      await world.open(node);
      world.provider.lastWords = [{ type: 'usageTotal', ms: 61_500 }];
      world.database.isAway = isAway;
      world.endSession();
      await node.settled();
      expect(world.provider.live.size).toBe(0);
      expect(world.metering.heard).toContainEqual({ type: 'usageTotal', ms: 61_500 });
    },
  );

  test('is hung up within a second even if the message about its session’s end was lost', async () => {
    await world.open(node);
    world.endSession(SESSION, 'closed_by_client', false);
    await world.pass(1000);
    expect(world.provider.hangUps).toEqual(['rtc_1']);
  });

  test('is hung up when its session goes idle', async () => {
    await world.open(node);
    world.bus.publish({ type: 'session.moved', sessionId: SESSION, state: 'idle', endReason: null });
    await node.settled();
    expect(await world.call()).toMatchObject({ state: 'closing', closeReason: 'session_idle' });
  });

  test('that is still heard after two successful hang-ups is not over, and is hung up again', async () => {
    await world.open(node);
    world.provider.deaf.add('rtc_1');
    world.endSession();
    await node.settled();
    for (let seconds = 0; seconds < 20; seconds += 1) {
      await world.pass(1000);
      world.provider.sideband.hear({ type: 'activity' });
      await node.settled();
    }
    expect(await world.call()).toMatchObject({ state: 'closing' });
    // After 0, 1, 5 and 15 seconds.
    expect(world.provider.hangUps).toHaveLength(4);
    world.provider.sideband.hear(started('resp_1'));
    expect(world.provider.sideband.cancelled).toEqual(['resp_1']);
    world.provider.deaf.clear();
    await world.pass(42_000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
  });

  test('that is not heard any more after two successful hang-ups is over', async () => {
    await world.open(node);
    world.provider.deaf.add('rtc_1');
    world.endSession();
    await node.settled();
    await world.pass(2750);
    expect(await world.call()).toMatchObject({ state: 'closing', hangupTries: 2 });
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', hangupTries: 2 });
  });

  test('that the provider wrongly reports as unknown on a hang-up is dialled and hung up once more', async () => {
    await world.open(node);
    world.provider.forgotten.add('rtc_1');
    world.endSession();
    await node.settled();
    await world.pass(5000);
    expect(await world.call()).toMatchObject({ state: 'closing', overAtMs: null });
    expect(world.provider).toMatchObject({ questions: 1, hangUps: ['rtc_1', 'rtc_1', 'rtc_1'] });
    world.provider.forgotten.clear();
    await world.pass(2000);
    expect(world.provider.live.size).toBe(0);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
  });

  test('whose provider is away is hung up at growing intervals, while the session is over at once', async () => {
    await world.open(node);
    world.provider.isAway = true;
    world.endSession();
    await node.settled();
    expect(endedBecause()).toBe('closed_by_client');
    await world.pass(8000);
    const asked = world.provider.hangUps.length;
    expect(asked).toBe(6);
    world.provider.isAway = false;
    await world.pass(9000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    expect(world.wrongs).toEqual([]);
  });

  test('that the provider refuses to hang up counts as late after ten seconds, until its hang-up is confirmed', async () => {
    await world.open(node);
    world.provider.isAway = true;
    world.endSession();
    await node.settled();
    const late = () => world.stores.calls.countClosing(world.clock.now() - 10_000);
    await world.pass(9750);
    expect(await late()).toBe(0);
    await world.pass(250);
    expect([await late(), (await world.call()).state]).toEqual([1, 'closing']);
    expect(world.logged.join('')).toMatch(/"event":"dependency.away","dependency":"provider","where":"hang-up"/);
    world.provider.isAway = false;
    await world.pass(9000);
    expect([await late(), (await world.call()).hangup]).toEqual([0, 'confirmed']);
  });

  test('whose hang-up fails is cut off whenever it speaks again', async () => {
    await world.open(node);
    world.provider.isAway = true;
    world.endSession();
    await node.settled();
    for (const id of ['resp_1', 'resp_2']) world.provider.sideband.hear(started(id));
    expect(world.provider.sideband.cancelled).toEqual(['resp_1', 'resp_2']);
    await world.pass(250);
    expect(world.provider.hangUps).toHaveLength(2);
  });

  test('that cannot be hung up before the provider must have ended it is closed as unconfirmed, and reported', async () => {
    await world.open(node);
    world.provider.isAway = true;
    world.endSession();
    await node.settled();
    world.clock.advance(3_600_000);
    await world.look();
    await world.look();
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'unconfirmed' });
    expect(world.logged.at(-1)).toContain('"hangup":"unconfirmed"');
    expect(await world.metrics.registry.metrics()).toContain('switchboard_call_hangups_total{outcome="unconfirmed"} 1');
    const asked = world.provider.hangUps.length;
    await world.pass(1000);
    expect(world.provider.hangUps).toHaveLength(asked);
  });

  test('that is slow to hang up delays no other, and has one hang-up at a time', async () => {
    world.addSession('s:1');
    await world.open(node);
    await world.open(node, 's:1');
    let release = (): void => undefined;
    let isFirst = true;
    world.provider.before = () => {
      if (!isFirst) return undefined;
      isFirst = false;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    world.endSession();
    await expect.poll(() => world.provider.hangUps).toEqual(['rtc_1']);
    world.endSession('s:1');
    await expect.poll(() => world.provider.hangUps).toEqual(['rtc_1', 'rtc_2']);
    await expect.poll(async () => (await world.call('s:1')).hangup).toBe('asked');
    await node.tick();
    await node.tick();
    expect(world.provider.hangUps).toEqual(['rtc_1', 'rtc_2']);
    release();
    await node.settled();
    expect(await world.call()).toMatchObject({ hangup: 'asked' });
  });

  test.each([
    ['expired', 'upstream_ended'],
    ['content', 'upstream_ended'],
  ] as const)('that the provider ended (%s) ends its session', async (reason, ended) => {
    await world.open(node);
    world.provider.sideband.endWith(reason);
    await node.settled();
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: reason, hangup: 'already_over' });
    expect(endedBecause()).toBe(ended);
    expect(world.provider.hangUps).toEqual([]);
  });

  test('that the browser left ends its session after a grace period', async () => {
    await world.open(node);
    world.provider.sideband.endWith('remote');
    await world.pass(29_500);
    expect(endedBecause()).toBeNull();
    await world.pass(500);
    expect(endedBecause()).toBe('upstream_ended');
  });

  test('that the browser left does not end its session if another call followed', async () => {
    await world.open(node);
    world.provider.sideband.endWith('remote');
    await world.pass(1000);
    const next = await world.open(node);
    await world.pass(31_000);
    expect(endedBecause()).toBeNull();
    expect(await world.call()).toEqual(next);
  });

  test('that the browser left ends its session if the call that followed never opened', async () => {
    await world.open(node);
    world.provider.sideband.endWith('lost');
    await world.pass(1000);
    world.provider.isAway = true;
    expect(await world.refusal(world.ask(node))).toBe('UPSTREAM_ERROR');
    await world.pass(31_000);
    expect(endedBecause()).toBe('upstream_ended');
  });

  test('gets its close reason even after the answer to its hang-up', async () => {
    await world.open(node);
    world.provider.before = (step) => {
      if (step === 'hangUp') world.provider.sideband.hear({ type: 'over', reason: 'remote' });
    };
    world.endSession();
    await node.settled();
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'session_ended', hangup: 'confirmed' });
  });

  test('may be changed by a page with a key that allows it', async () => {
    const setup = world.setups.get(SESSION);
    if (setup !== undefined) world.setups.set(SESSION, { ...setup, forbidsOverrides: false });
    await world.open(node);
    for (let times = 0; times < 5; times += 1) world.provider.sideband.hear({ type: 'configChanged', isAsSdk: false });
    await world.look();
    expect(world.provider.sideband.restored).toBe(0);
    expect(await world.call()).toMatchObject({ state: 'open' });
  });

  test('keeps its session engaged while somebody speaks, with one write a second', async () => {
    await world.open(node);
    const { sideband } = world.provider;
    const from = world.clock.now();
    for (let times = 0; times < 8; times += 1) {
      sideband.hear({ type: times % 2 === 0 ? 'activity' : 'speaking' });
      world.clock.advance(250);
    }
    expect(world.activity).toEqual([from, from + 1000]);
  });

  test('is metered by what the provider reports, and usage that cannot be read is counted in a metric', async () => {
    await world.open(node);
    const usage = { type: 'usageTotal', ms: 5 } as const;
    world.provider.sideband.hear(usage);
    world.provider.sideband.hear({ type: 'usageUnreadable', key: undefined });
    world.provider.sideband.hear({ type: 'trouble', code: 'invalid_event' });
    world.provider.sideband.hear({ type: 'rateLimit', name: 'tokens', remaining: 7 });
    expect(world.metering.heard).toEqual([usage, { type: 'usageUnreadable', key: undefined }]);
    const told = await world.metrics.registry.metrics();
    expect(told).toContain('switchboard_call_events_dropped_total{provider="fake"} 1');
    expect(told).toContain('switchboard_call_trouble_total{provider="fake"} 1');
    expect(told).toContain('switchboard_call_rate_limit_remaining{provider="fake",name="tokens"} 7');
  });
});

test('An end that comes while the call is being saved is acted on right after, without waiting for a CLOCK', async () => {
  const world = await CallsWorld.start();
  const node = await world.addNode();
  await world.open(node);
  let save = (): void => undefined;
  const isSaved = new Promise<void>((resolve) => {
    save = resolve;
  });
  const isSaving = new Promise<void>((resolve) => {
    world.beforeSave = () => {
      world.beforeSave = () => undefined;
      resolve();
      return isSaved;
    };
  });
  world.provider.sideband.close();
  await isSaving;
  world.endSession();
  save();
  await node.settled();
  expect(world.provider.hangUps).toEqual(['rtc_1']);
});
