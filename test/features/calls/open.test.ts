import { describe, expect, test } from 'vitest';
import { UnansweredCall, UpstreamFault } from '../../../src/upstream/contract.ts';
import { node, SESSION, useCalls, world, type CallsWorld } from './calls-world.ts';

describe('Opening a call', () => {
  useCalls();

  test('answers once the provider has, the call is heard, and all of it is saved', async () => {
    const record = await world.open(node);
    expect(record).toMatchObject({ state: 'open', providerCallId: 'rtc_1', sessionId: SESSION, ownerNode: node.node });
    expect(await world.call()).toEqual(record);
    expect(record.id).toMatch(/^call_[\w-]{22}$/);
    expect(record.providerEndsAtMs).toBe(world.clock.now() + 3_600_000);
    expect(world.provider.requests[0]).toMatchObject({
      model: 'echo',
      voice: 'marin',
      subjectHash: SESSION.slice(2, 34),
    });
    expect([node.held, node.sidebands]).toEqual([1, 1]);
    expect(world.logged.join('')).not.toContain('rtc_1');
  });

  test('at a provider that is metered by the clock needs no sideband, and its time is metered', async () => {
    world.provider.capabilities = { ...world.provider.capabilities, meter: 'clock', providerMaxSec: null };
    const record = await world.open(node);
    expect(record.providerEndsAtMs).toBe(world.clock.now() + 86_400_000);
    await world.pass(6000);
    world.endSession();
    await world.look();
    expect(world.provider.sidebands).toEqual([]);
    expect(world.metering.heard.at(-1)).toEqual({ type: 'usageTotal', ms: 6000 });
    expect(world.metering.gaps).toEqual([]);
  });

  test('starts the meter once the provider has created it, and not before', async () => {
    world.provider.isAway = true;
    await world.ask(node);
    expect(world.metering.begun).toEqual([]);
    world.provider.isAway = false;
    const record = await world.open(node);
    expect(world.metering.begun).toEqual([record.id]);
    // A call whose caller gives up waiting is charged its minimum all the same.
    const caller = new AbortController();
    world.provider.before = (step) => step === 'create' && caller.abort();
    await world.ask(node, SESSION, caller.signal);
    expect(world.metering.begun).toHaveLength(2);
  });

  test('hangs up the former call of the session, whoever holds it', async () => {
    const other = await world.addNode();
    const former = await world.open(node);
    const present = await world.open(other);
    await world.pass(1500);
    expect(await world.stores.calls.load(former.id)).toMatchObject({ closeReason: 'replaced', hangup: 'confirmed' });
    expect(await world.stores.calls.load(present.id)).toMatchObject({ state: 'open' });
    expect([...world.provider.live]).toEqual(['rtc_2']);
    expect(world.sessions.get(SESSION)?.endedAtMs).toBeNull();
  });

  test('is refused while another call of the session is being created, and beyond the maximum', async () => {
    const release = world.provider.hold();
    const first = world.ask(node);
    await expect.poll(() => world.provider.requests.length).toBe(1);
    expect(await world.refusal(world.ask(node))).toBe('CALL_IN_PROGRESS');
    release();
    expect(await world.refusal(first)).toBe('opened');
    await world.open(node);
    await world.open(node);
    expect(await world.refusal(world.ask(node))).toBe('RATE_LIMIT_EXCEEDED');
  });

  test('of a session that has ended is refused before the provider is asked', async () => {
    world.endSession();
    expect(await world.refusal(world.ask(node))).toBe('SESSION_DURATION_EXCEEDED');
    expect(world.provider.requests).toEqual([]);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'none' });
  });

  test('of a session that ends meanwhile is refused, and its call is hung up', async () => {
    world.provider.before = (step) => step === 'create' && world.endSession();
    expect(await world.refusal(world.ask(node))).toBe('SESSION_DURATION_EXCEEDED');
    await world.pass(3250);
    expect(await world.call()).toMatchObject({ closeReason: 'session_ended', hangup: 'confirmed', openedAtMs: null });
    expect(world.provider.live.size).toBe(0);
  });

  test('of a session that ends while the sideband attaches reports the end, not a fault of the provider', async () => {
    world.provider.before = (step) => {
      if (step !== 'attach') return;
      world.endSession();
      world.provider.isAway = true;
    };
    expect(await world.refusal(world.ask(node))).toBe('SESSION_DURATION_EXCEEDED');
    world.provider.isAway = false;
    world.provider.before = () => undefined;
    await world.pass(3250);
    expect(await world.call()).toMatchObject({ closeReason: 'session_ended', hangup: 'confirmed' });
    expect(world.provider.live.size).toBe(0);
    expect(world.logged.filter((line) => line.includes('dependency.away'))).toEqual([]);
  });

  test('that the provider refuses leaves nothing open', async () => {
    world.provider.isAway = true;
    expect(await world.refusal(world.ask(node))).toBe('UPSTREAM_ERROR');
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed', hangup: 'none' });
    await world.look();
    expect(node.held).toBe(0);
  });

  test.each<[string, (world: CallsWorld) => void]>([
    ['is answered with an SDP that the policy refuses', ({ provider }) => void (provider.answerSdp = 'video')],
    [
      'cannot be heard',
      ({ provider }) =>
        void (provider.before = (step) => {
          provider.isAway = step === 'attach';
        }),
    ],
  ])('that %s is refused and hung up', async (_, make) => {
    make(world);
    expect(await world.refusal(world.ask(node))).toBe('UPSTREAM_ERROR');
    await world.pass(3250);
    expect(await world.call()).toMatchObject({ closeReason: 'create_failed', hangup: 'confirmed' });
    expect(world.provider.live.size).toBe(0);
    expect(world.sessions.get(SESSION)?.endedAtMs).toBeNull();
  });

  test.each(['is hung up', 'is unknown to all'] as const)(
    'that the provider created and did not answer %s',
    async (how) => {
      const fault = new UpstreamFault('unreachable', 'the connection broke');
      world.provider.before = (step) => {
        if (step !== 'create') return;
        world.provider.live.add('rtc_1');
        throw how === 'is unknown to all' ? fault : new UnansweredCall('rtc_1', fault);
      };
      expect(await world.refusal(world.ask(node))).toBe('UPSTREAM_ERROR');
      await world.pass(3250);
      const hangup = how === 'is unknown to all' ? 'none' : 'confirmed';
      expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed', hangup });
      expect(world.provider.live.size).toBe(how === 'is unknown to all' ? 1 : 0);
      expect(world.logged.join('')).not.toContain('rtc_1');
    },
  );

  const busy = (retryAfterSec: number) => new UpstreamFault('refused', 'slower', { status: 429, retryAfterSec });

  test('is dialled again while there is time if the provider asks to wait', async () => {
    let times = 0;
    world.provider.before = (step) => {
      times += step === 'attach' ? 1 : 0;
      if (step === 'attach' && times < 3) throw busy(1);
    };
    expect(await world.refusal(world.ask(node))).toBe('opened');
    expect(world.paused).toEqual([1000, 1000]);
  });

  test.each([
    [1, [1000, 1000]],
    [3, []],
  ])('is refused and hung up if the provider keeps asking to wait for %i s', async (seconds, paused) => {
    world.provider.before = (step) => {
      if (step === 'attach') throw busy(seconds);
    };
    const refusal = await world.ask(node);
    expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', additions: { retryAfter: seconds } });
    expect(world.paused).toEqual(paused);
    await world.pass(3250);
    expect(world.provider.live.size).toBe(0);
  });

  test('that the provider refuses for now is refused as such, without waiting', async () => {
    world.provider.before = () => {
      throw busy(7);
    };
    expect(await world.ask(node)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', additions: { retryAfter: 7 } });
    expect(world.paused).toEqual([]);
  });

  test('that is over before it is heard never counts as opened', async () => {
    world.provider.before = (step) => step === 'attach' && world.provider.live.clear();
    expect(await world.refusal(world.ask(node))).toBe('UPSTREAM_ERROR');
    await world.pass(5250);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed' });
  });

  test.each(['create', 'attach'] as const)('whose caller goes away at its %s is hung up', async (when) => {
    const caller = new AbortController();
    world.provider.before = (step) => step === when && caller.abort();
    expect(await world.refusal(world.ask(node, SESSION, caller.signal))).toBe('SERVICE_UNAVAILABLE');
    await world.pass(3250);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed' });
    expect(world.provider.live.size).toBe(0);
  });

  test('whose caller goes away while the provider is being asked does not block another', async () => {
    const caller = new AbortController();
    let answer = (): void => undefined;
    world.provider.before = (step) => {
      if (step !== 'create' || caller.signal.aborted) return undefined;
      caller.abort();
      return new Promise<void>((resolve) => (answer = resolve));
    };
    const first = world.ask(node, SESSION, caller.signal);
    await expect.poll(async () => (await world.call()).state).toBe('closing');
    world.clock.advance(1);
    expect(await world.refusal(world.ask(node))).toBe('opened');
    answer();
    expect(await world.refusal(first)).toBe('SERVICE_UNAVAILABLE');
    await world.pass(3250);
    const calls = await world.stores.calls.ofSession(SESSION);
    expect(calls.map(({ state, closeReason }) => [state, closeReason])).toEqual([
      ['open', null],
      ['closed', 'create_failed'],
    ]);
    expect(world.provider.live.size).toBe(1);
  });

  test('is hung up even if the database goes away after the create, and closed once that is back', async () => {
    world.provider.before = (step) => {
      if (step === 'create') world.database.isAway = true;
    };
    await expect(world.ask(node)).rejects.toThrow('database is not available');
    await node.settled();
    expect(world.provider.live.size).toBe(0);
    world.database.isAway = false;
    await world.pass(5250);
    expect(await world.call()).toMatchObject({
      state: 'closed',
      closeReason: 'create_failed',
      providerCallId: 'rtc_1',
    });
    expect(world.wrongs).toEqual([]);
  });
});
