import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { FakeBrokeredProvider } from '../../support/fake-brokered-provider.ts';
import { node as owner, other, SESSION, useCalls, world } from './calls-world.ts';

/** Never resolves: work that was in progress when a process was killed. */
const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('When the node that holds a call', () => {
  useCalls(2);

  /** Kills the owner while its hang-up is unanswered. @returns the time of the session's end */
  async function killWhileItHangsUp(): Promise<number> {
    await world.open(owner);
    const at = world.clock.now();
    world.provider.before = never;
    world.endSession();
    await expect.poll(() => world.provider.hangUps).toHaveLength(1);
    world.kill(owner);
    world.provider.before = () => undefined;
    return at;
  }

  test('dies, the meter is told again that its calls have begun, because it may have died before that was counted', async () => {
    const { id } = await world.open(owner);
    world.kill(owner);
    await world.pass(10_250);
    expect(world.metering.begun).toEqual([id, id]);
  });

  test('dies, another hears the call once the lease has lapsed, and tells the gap since the last sign of life', async () => {
    await world.open(owner);
    const at = world.clock.now();
    world.kill(owner);
    await world.pass(8750);
    expect(await world.call()).toMatchObject({ ownerNode: owner.node });
    await world.pass(1500);
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node, fence: 2, unheardSinceMs: null });
    expect(other.sidebands).toBe(1);
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
    expect(await world.metrics.registry.metrics()).toContain('switchboard_calls_taken_total 1');
  });

  describe('of a provider that tells no usage', () => {
    beforeEach(() => {
      const { capabilities } = world.provider;
      world.provider.capabilities = { ...capabilities, meter: 'clock' };
    });

    test('dies, another goes on with the call, of which nothing is to be heard', async () => {
      await world.open(owner);
      world.kill(owner);
      await world.pass(35_000);
      expect(await world.call()).toMatchObject({ state: 'open', fence: 2, unheardSinceMs: null });
      expect(world.sessions.get(SESSION)).toMatchObject({ endReason: null });
    });

    test('dies, another hangs the call up with its session', async () => {
      await world.open(owner);
      world.kill(owner);
      await world.pass(15_000);
      world.endSession();
      await world.pass(3000);
      expect(await world.call()).toMatchObject({ closeReason: 'session_ended' });
      expect(world.provider.hangUps).not.toEqual([]);
    });
  });

  test('has not counted what it heard, it gives no sign of life, and lets go', async () => {
    await world.open(owner);
    // Usage is not counted yet while it waits for the database or is on its way there.
    world.metering.isAway = true;
    await world.pass(7000);
    expect(owner.sidebands).toBe(0);
    world.metering.isAway = false;
    await world.pass(3000);
    expect(owner.sidebands + other.sidebands).toBe(1);
  });

  test('stops, another hears the call at once', async () => {
    await world.open(owner);
    world.kill(owner);
    await owner.stop();
    await other.settled();
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node, unheardSinceMs: null });
    expect(world.provider.sidebands.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  test('stops right after a loss that the database did not take, it saves that once more, and another hears the call at once', async () => {
    await world.open(owner);
    world.kill(owner);
    const at = world.clock.now();
    world.beforeSave = () => {
      world.beforeSave = () => undefined;
      throw new Unavailable('database', 'away');
    };
    world.provider.sidebands[0]?.close();
    await owner.settled();
    expect(await world.call()).toMatchObject({ unheardSinceMs: null });
    world.clock.advance(500);
    await owner.stop();
    await other.settled();
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node, unheardSinceMs: null });
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
  });

  test('dies with its session, another hangs up', async () => {
    await world.open(owner);
    world.kill(owner);
    world.endSession(SESSION, 'closed_by_client', false);
    await world.pass(13_000);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'session_ended', hangup: 'confirmed' });
    expect(world.provider.live.size).toBe(0);
  });

  test('dies while it hangs up, another goes on', async () => {
    const at = await killWhileItHangsUp();
    await world.pass(13_000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', ownerNode: other.node });
    expect(world.provider.live.size).toBe(0);
    // What the dead node heard but did not count is lost, and nobody heard the call from then until the hang-up.
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
    expect(world.metering.gaps[0]?.untilMs).toBeGreaterThan(at + 9000);
  });

  test('dies while it hangs up, and the database goes away as another takes the call, the gap is told all the same', async () => {
    const at = await killWhileItHangsUp();
    world.areSetupsAway = true;
    await world.pass(13_000);
    world.areSetupsAway = false;
    await world.pass(5000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', ownerNode: other.node });
    expect(world.metering.gaps).toContainEqual({ fromMs: at, untilMs: expect.any(Number) });
  });

  test('stops, and another takes the call only later, all is a gap from the moment it let go', async () => {
    await world.open(owner);
    world.clock.advance(5000);
    const at = world.clock.now();
    world.kill(owner);
    world.kill(other);
    await owner.stop();
    world.clock.advance(10_000);
    world.nodes.add(await world.addNode());
    await world.pass(1000);
    expect(await world.call()).toMatchObject({ state: 'open', unheardSinceMs: null });
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
    expect(world.metering.gaps[0]?.untilMs).toBeGreaterThanOrEqual(at + 10_000);
  });

  test('stops, and the session ends before another takes the call, all is a gap as well', async () => {
    await world.open(owner);
    const at = world.clock.now();
    world.kill(owner);
    world.kill(other);
    await owner.stop();
    world.clock.advance(3000);
    world.nodes.add(other);
    world.endSession();
    await other.settled();
    expect(await world.call()).toMatchObject({ state: 'closing', ownerNode: owner.node });
    await world.pass(5000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', ownerNode: other.node });
    const [first] = world.metering.gaps;
    expect(first).toEqual({ fromMs: at, untilMs: at + 3500 });
  });

  test('stops and cannot count what it heard, its lease lapses, and the gap is told since its last sign of life', async () => {
    await world.open(owner);
    const at = world.clock.now();
    world.clock.advance(1000);
    world.metering.isAway = true;
    world.kill(owner);
    await owner.stop();
    await other.settled();
    expect(await world.call()).toMatchObject({ ownerNode: owner.node });
    world.metering.isAway = false;
    await world.pass(10_000);
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node });
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: expect.any(Number) }]);
  });

  test('stops, it hears its calls until others may take them', async () => {
    await world.open(owner);
    world.kill(owner);
    let wasHeard: boolean | undefined;
    world.metering.beforeFlush = () => {
      wasHeard ??= !world.sideband.isClosed;
    };
    await owner.stop();
    expect(wasHeard).toBe(true);
    expect(owner.sidebands).toBe(0);
  });

  test('dies before it ended the session of a call that is over, another ends it', async () => {
    await world.open(owner);
    world.hear({ type: 'over', reason: 'remote' });
    await owner.settled();
    world.kill(owner);
    await world.pass(30_250);
    expect(world.endReason).toBe('upstream_ended');
  });

  test('stood still, it finds out and lets go of what is another node’s', async () => {
    await world.open(owner);
    world.kill(owner);
    await world.pass(12_000);
    expect(await world.call()).toMatchObject({ ownerNode: other.node });
    world.nodes.add(owner);
    await world.pass(1000);
    expect([owner.held, owner.sidebands, other.sidebands]).toEqual([0, 0, 1]);
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node, unheardSinceMs: null });
    expect(world.wrongs).toEqual([]);
  });

  test('stood still and renews while it is unknown whether another took the call, it keeps the call', async () => {
    await world.open(owner);
    world.kill(owner);
    world.beforeSave = ({ ownerNode }) => {
      if (ownerNode === other.node) throw new Unavailable('database', 'away');
    };
    await world.pass(10_000);
    world.beforeSave = () => undefined;
    await owner.renewLease();
    world.nodes.add(owner);
    await world.pass(15_000);
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: owner.node, fence: 1, unheardSinceMs: null });
    expect([owner.sidebands, other.held]).toEqual([1, 0]);
  });

  test('stood still and renews before a save of another that took the call is carried out late, the other hears it', async () => {
    await world.open(owner);
    world.kill(owner);
    let carryOut = (): Promise<unknown> => Promise.resolve();
    world.beforeSave = (record) => {
      if (record.ownerNode !== other.node) return;
      carryOut = () => world.save(record, record.version - 1);
      throw new Unavailable('database', 'away');
    };
    await world.pass(10_000);
    world.beforeSave = () => undefined;
    const at = world.clock.now();
    await world.stores.liveNodes.renew(owner.node, at + 9000, at);
    // The other node checks once more before the late save.
    await world.pass(1000);
    expect(await world.call()).toMatchObject({ ownerNode: owner.node, fence: 1 });
    world.nodes.add(owner);
    await carryOut();
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'open', ownerNode: other.node, unheardSinceMs: null });
    expect([owner.held, other.sidebands]).toEqual([0, 1]);
  });

  test('stood still, it gives no sign of life before it has counted what came meanwhile', async () => {
    await world.open(owner);
    world.clock.advance(5000);
    const heard: string[] = [];
    // What has arrived on a socket is read only after timers that are due.
    setImmediate(() => heard.push('usage'));
    world.metering.beforeFlush = () => heard.push('counted');
    await owner.renewLease();
    expect(heard).toEqual(['usage', 'counted']);
  });

  test('stood still while its session ended, it lets go of the call that another ended', async () => {
    await world.open(owner);
    world.kill(owner);
    await world.pass(12_000);
    world.nodes.add(owner);
    world.endSession();
    for (const node of world.nodes) await node.settled();
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'session_ended', hangup: 'confirmed' });
    expect([owner.held, other.held]).toEqual([0, 0]);
    expect(world.provider.sidebands.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });

  test('dies, one of several nodes that try takes the call', async () => {
    await world.open(owner);
    world.kill(owner);
    await world.addNode();
    await world.pass(8000);
    world.clock.advance(2000);
    await Promise.all([...world.nodes].map((node) => node.renewLease()));
    await Promise.all([...world.nodes].map((node) => node.tick()));
    for (const node of world.nodes) await node.settled();
    expect((await world.call()).fence).toBe(2);
    expect([...world.nodes].filter(({ sidebands }) => sidebands === 1)).toHaveLength(1);
  });
});

describe('An owner that dies while it opens a call', () => {
  useCalls(2);

  /** Opens a call and kills its owner as soon as `isThere` returns something truthy. */
  async function dieWhen(isThere: () => unknown): Promise<void> {
    void world.ask(owner).catch(() => undefined);
    await expect.poll(isThere).toBeTruthy();
    world.kill(owner);
    world.provider.before = () => undefined;
    world.beforeSave = () => undefined;
    await world.pass(25_000);
  }

  test('before the provider answers leaves nothing to hang up', async () => {
    world.provider.before = never;
    await dieWhen(() => world.provider.requests.length);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed', hangup: 'none' });
    expect(world.provider.hangUps).toEqual([]);
  });

  test('before the answer is saved leaves a call that no browser can use, and a record that is closed', async () => {
    let isSaving = false;
    world.beforeSave = () => {
      isSaving = true;
      return never();
    };
    await dieWhen(() => isSaving);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed', hangup: 'none' });
  });

  test('before it is heard leaves a call that another hangs up', async () => {
    let isAttaching = false;
    world.provider.before = (step) => {
      if (step !== 'attach') return undefined;
      isAttaching = true;
      return never();
    };
    await dieWhen(() => isAttaching);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed', hangup: 'confirmed' });
    expect(world.provider.live.size).toBe(0);
  });

  test('before it is open leaves a call that another hangs up', async () => {
    let isOpening = false;
    world.beforeSave = ({ state }) => {
      if (state !== 'open') return undefined;
      isOpening = true;
      return never();
    };
    await dieWhen(() => isOpening);
    expect(await world.call()).toMatchObject({ state: 'closed', closeReason: 'create_failed', hangup: 'confirmed' });
    expect(world.provider.live.size).toBe(0);
  });
});

describe('A call that was created with a credential', () => {
  const AT_LEAST_MS = 10_000;
  useCalls();
  let stranger: FakeBrokeredProvider;

  beforeEach(async () => {
    stranger = new FakeBrokeredProvider();
    stranger.credential = 'two';
    await world.open(owner);
    world.kill(owner);
    await owner.stop();
  });

  test('that no node has any more is asked for by nobody, unconfirmed while it is open, and an alarm', async () => {
    const node = await world.addNode(stranger);
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'open', hangup: 'unconfirmed', ownerNode: node.node });
    expect(node.foreign).toBe(1);
    expect(world.logged.at(-1)).toContain('call.foreign');
    await world.pass(20_000);
    expect(await world.call()).toMatchObject({ state: 'closing', closeReason: 'unheard', hangup: 'unconfirmed' });
    expect(world.endReason).toBe('upstream_ended');
    expect(world.metering.gaps).toHaveLength(1);
    world.clock.advance(3_600_000);
    await world.look();
    await world.look();
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'unconfirmed' });
    expect([...world.provider.hangUps, ...stranger.hangUps, ...stranger.sidebands]).toEqual([]);
    expect(node.foreign).toBe(0);
  });

  test('is heard again by a node that has it, also as its second, from one that has it not', async () => {
    const node = await world.addNode(stranger);
    await world.pass(2000);
    const rightful = await world.addNode(stranger, world.provider);
    await world.pass(AT_LEAST_MS);
    expect(await world.call()).toMatchObject({ state: 'open', hangup: 'none', ownerNode: rightful.node });
    expect([rightful.sidebands, node.held, node.foreign]).toEqual([1, 0, 0]);
  });

  test('is hung up by a node that has it, when its session ended meanwhile', async () => {
    const node = await world.addNode(stranger);
    await world.pass(2000);
    world.endSession();
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'closing', hangup: 'unconfirmed' });
    await world.addNode();
    await world.pass(AT_LEAST_MS);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed' });
    expect([world.provider.live.size, node.held]).toEqual([0, 0]);
  });
});

describe('The node that saves the end of a session', () => {
  useCalls(2);
  beforeEach(async () => void (await world.open(owner)));

  test('asks for the hang-up itself where the owner of the call is dead and nobody knows so yet', async () => {
    world.kill(owner);
    world.endSession();
    for (const node of world.nodes) await node.settled();
    expect(await world.call()).toMatchObject({ state: 'closing', closeReason: 'session_ended' });
    await world.pass(750);
    expect(world.provider.live.size).toBe(0);
  });

  test('leaves the record to whoever takes the call over, who marks what a dead owner heard and did not count', async () => {
    const at = world.clock.now();
    world.metering.heard.length = 0;
    world.clock.advance(1000);
    world.kill(owner);
    // The dead node hears nothing more.
    world.provider.sidebands.length = 0;
    world.endSession();
    await world.pass(7000);
    expect(await world.call()).toMatchObject({ state: 'closing', hangup: 'asked', ownerNode: owner.node });
    expect(world.metering.gaps).toEqual([]);
    const { overAtMs } = await world.call();
    await world.pass(6000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', fence: 2 });
    // A call that is over sends nothing more, however late it is taken; the gap is charged for all of that time.
    expect(world.metering.gaps).toEqual([{ fromMs: at, untilMs: overAtMs }]);
    expect(world.metering.heard).toEqual([]);
  });

  test('counts what the provider tells of the cost to whoever ends the call', async () => {
    const usage = { type: 'usageTotal', ms: 7000 } as const;
    world.provider.lastWords = [usage, { type: 'over', reason: 'remote' }];
    world.kill(owner);
    world.endSession();
    await world.pass(1000);
    expect(world.metering.heard).toEqual([usage]);
  });

  test('goes on where the database does not take the close at first', async () => {
    world.kill(owner);
    world.beforeSave = () => {
      world.beforeSave = () => undefined;
      throw new Unavailable('database', 'away');
    };
    world.endSession();
    await world.pass(1500);
    expect(world.provider.live.size).toBe(0);
  });

  test('asks again where that fails', async () => {
    world.kill(owner);
    world.provider.isAway = true;
    world.endSession();
    await world.pass(2000);
    expect(world.provider.hangUps.length).toBeGreaterThan(1);
    world.provider.isAway = false;
    await world.pass(5000);
    expect(world.provider.live.size).toBe(0);
  });

  test('leaves the hang-up to an owner that lives, which cuts off first what is being said', async () => {
    world.endSession();
    await world.pass(2000);
    expect(await world.call()).toMatchObject({ state: 'closed', hangup: 'confirmed', hangupTries: 2 });
    expect(world.provider.live.size).toBe(0);
    await world.look();
    expect([...world.nodes].map(({ held }) => held)).toEqual([0, 0]);
  });

  test('asks nothing where it has not the credential', async () => {
    const stranger = new FakeBrokeredProvider();
    stranger.credential = 'two';
    for (const node of world.nodes) world.kill(node);
    await world.addNode(stranger);
    world.endSession();
    await world.pass(5000);
    expect([...world.provider.hangUps, ...stranger.hangUps]).toEqual([]);
  });
});
