import { describe, expect, test } from 'vitest';
import { done, node, SESSION, started, useCalls, world } from './calls-world.ts';

useCalls();

describe('A call', () => {
  test('is cut off and hung up at once when its session ends, and confirmed a second later', async () => {
    await world.open(node);
    world.hear(started('resp_1'));
    world.sideband.answerCancel = () => world.hear(done('resp_1'));
    world.endSession();
    await node.settled();
    expect(world.sideband.cancelled).toEqual(['resp_1']);
    expect(await world.call()).toMatchObject({ state: 'closing', hangup: 'asked', closeReason: 'session_ended' });
    expect(world.provider.live.size).toBe(0);
    await world.pass(750);
    expect(world.provider.hangUps).toHaveLength(1);
    await world.pass(250);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', hangupTries: 2 });
    expect(world.sideband).toMatchObject({ isClosed: true, cancelled: ['resp_1'] });
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
    world.sideband.endWith('expired');
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
    for (let seconds = 0; seconds < 5; seconds += 1) {
      await world.pass(1000);
      world.hear({ type: 'activity' });
      await node.settled();
    }
    expect(await world.call()).toMatchObject({ state: 'closing' });
    // After 0, 1 and 5 seconds.
    expect(world.provider.hangUps).toHaveLength(3);
    world.hear(started('resp_1'));
    expect(world.sideband.cancelled).toEqual(['resp_1']);
    world.provider.deaf.clear();
    await world.pass(13_000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
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
    const release = world.provider.hold();
    world.endSession();
    await expect.poll(() => world.provider.hangUps).toEqual(['rtc_1']);
    world.provider.before = () => undefined;
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

  test('that the provider ended ends its session', async () => {
    await world.open(node);
    world.sideband.endWith('expired');
    await node.settled();
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'expired', hangup: 'already_over' });
    expect(world.endReason).toBe('upstream_ended');
    expect(world.provider.hangUps).toEqual([]);
  });

  test('that the browser left ends its session if the call that followed never opened', async () => {
    await world.open(node);
    world.sideband.endWith('lost');
    await world.pass(1000);
    world.provider.isAway = true;
    expect(await world.refusal(world.ask(node))).toBe('UPSTREAM_ERROR');
    await world.pass(31_000);
    expect(world.endReason).toBe('upstream_ended');
  });

  test('may be changed by a page with a key that allows it', async () => {
    world.setUp({ forbidsOverrides: false });
    await world.open(node);
    for (let times = 0; times < 5; times += 1) world.hear({ type: 'configChanged', isAsSdk: false });
    await world.look();
    expect(world.sideband.restored).toBe(0);
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
    world.hear(usage);
    world.hear({ type: 'usageUnreadable', key: undefined });
    world.hear({ type: 'trouble', code: 'invalid_event' });
    world.hear({ type: 'rateLimit', name: 'tokens', remaining: 7 });
    expect(world.metering.heard).toEqual([usage, { type: 'usageUnreadable', key: undefined }]);
    const told = await world.metrics.registry.metrics();
    expect(told).toContain('switchboard_call_events_dropped_total{provider="fake"} 1');
    expect(told).toContain('switchboard_call_trouble_total{provider="fake"} 1');
    expect(told).toContain('switchboard_call_rate_limit_remaining{provider="fake",name="tokens"} 7');
  });
});

test('An end that comes while the call is being saved is acted on right after, without waiting for a CLOCK', async () => {
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
  world.sideband.close();
  await isSaving;
  world.endSession();
  save();
  await node.settled();
  expect(world.provider.hangUps).toEqual(['rtc_1']);
});
