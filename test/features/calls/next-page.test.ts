import { beforeEach, describe, expect, test } from 'vitest';
import { HOUR, SECOND } from '../../support/clock.ts';
import { node, SESSION, useCalls, world } from './calls-world.ts';

const CALLS_PER_SESSION = 3;
const DAY = '2030-01-01';
/** What a session holds for its next call. */
const NEEDED = { tokens: 0, microDollars: 500 };

/** The world's heartbeats come every 45 seconds; without a resume token a session waits 30 seconds (CALL_GRACE_SEC) for another call. */
describe('A session whose page has left its call', () => {
  useCalls();

  beforeEach(async () => {
    await world.open(node);
    world.seen();
  });

  const leave = (): void => world.sideband.endWith('remote');

  /** Looks once a second, as the times here are long. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += SECOND) {
      world.clock.advance(SECOND);
      await world.look();
    }
  }

  async function expectEnd(afterMs: number): Promise<void> {
    await pass(afterMs - SECOND);
    expect(world.endReason).toBeNull();
    await pass(SECOND);
    expect(world.endReason).toBe('upstream_ended');
  }

  test('waits for the next page as long as its resume token works, and holds back no usage meanwhile', async () => {
    leave();
    await pass(49 * SECOND);
    expect(world.released).toEqual([]);
    await expectEnd(71 * SECOND);
    const left = await world.call();
    expect(left).toMatchObject({ state: 'closed', graceUntilMs: null });
    expect(world.released).toEqual([left.id]);
  });

  test('waits until two minutes after the last heartbeat, however long after it the page left', async () => {
    await pass(40 * SECOND);
    leave();
    await expectEnd(80 * SECOND);
  });

  test('waits as long if the node that heard the call dies', async () => {
    const other = await world.addNode();
    leave();
    await pass(35 * SECOND);
    world.kill(node);
    await expectEnd(85 * SECOND);
    expect(await world.call()).toMatchObject({ ownerNode: other.node });
  });

  test('waits as long if the node that heard the call dies before anybody knew that it has to wait', async () => {
    await world.addNode();
    leave();
    await pass(SECOND);
    world.kill(node);
    await expectEnd(119 * SECOND);
  });

  test('waits CALL_GRACE_SEC for a call of the next page from when that comes, on whichever node', async () => {
    const other = await world.addNode();
    leave();
    await pass(110 * SECOND);
    await other.awaitNext(SESSION, world.clock.now());
    world.seen();
    await expectEnd(30 * SECOND);
  });

  test('goes on with the call of a next page that came after 110 seconds', async () => {
    const other = await world.addNode();
    leave();
    await pass(110 * SECOND);
    await other.awaitNext(SESSION, world.clock.now());
    world.tokens.clear();
    await pass(25 * SECOND);
    const next = await world.open(other);
    await pass(40 * SECOND);
    expect(world.endReason).toBeNull();
    expect(await world.call()).toMatchObject({ id: next.id, state: 'open' });
  });

  test('goes on if the next page comes while the session is about to end', async () => {
    leave();
    await pass(29 * SECOND);
    world.whileAsked = async () => {
      world.whileAsked = () => undefined;
      await node.awaitNext(SESSION, world.clock.now());
      world.tokens.clear();
    };
    await pass(SECOND);
    expect(world.endReason).toBeNull();
    await expectEnd(30 * SECOND);
  });

  test('holds what the call of a next page needs, if that page comes while the former hold is given back', async () => {
    const held = async () => (await world.stores.holds.standing('ada', DAY, 'another', world.clock.now())).heldByOthers;
    const hold = () => {
      const ceilings = { tokens: 1000, microDollars: 1000 };
      const lapsesAtMs = world.clock.now() + HOUR;
      return world.stores.holds.take(SESSION, [{ account: 'ada', day: DAY, ceilings }], NEEDED, lapsesAtMs, 0);
    };
    await hold();
    leave();
    await pass(49 * SECOND);
    expect(await held()).toEqual(NEEDED);
    world.beforeRelease = async () => {
      await node.awaitNext(SESSION, world.clock.now());
      world.tokens.clear();
      await hold();
    };
    await pass(SECOND);
    expect(await held()).toEqual(NEEDED);
    await expectEnd(30 * SECOND);
  });

  test('that went idle after another call is not ended for the call before it', async () => {
    leave();
    await pass(5 * SECOND);
    await world.open(node);
    world.change({ lastActivityAtMs: world.clock.now() - 2 * HOUR });
    await pass(30 * SECOND);
    expect(world.endReason).toBeNull();
  });

  test('ends after CALL_GRACE_SEC if its page is still there and opens no other call', async () => {
    leave();
    await pass(20 * SECOND);
    world.seen();
    await expectEnd(10 * SECOND);
    expect(world.released).toEqual([]);
  });

  test('ends once a heartbeat after CALL_GRACE_SEC shows that its page is still there', async () => {
    leave();
    await pass(45 * SECOND);
    expect(world.endReason).toBeNull();
    world.seen();
    await pass(5 * SECOND);
    expect(world.endReason).toBe('upstream_ended');
  });

  test('ends after CALL_GRACE_SEC if nobody has a token of it', async () => {
    world.tokens.clear();
    leave();
    await expectEnd(30 * SECOND);
  });

  test('ends after CALL_GRACE_SEC if it has had all its calls, because no page can continue it', async () => {
    for (let calls = 1; calls < CALLS_PER_SESSION; calls += 1) {
      await pass(SECOND);
      await world.open(node);
    }
    leave();
    await expectEnd(30 * SECOND);
  });

  test('is ended by its other limits all the same', async () => {
    leave();
    await pass(60 * SECOND);
    world.endSession(SESSION, 'duration_exceeded');
    await pass(60 * SECOND);
    expect(world.endReason).toBe('duration_exceeded');
    expect(world.wrongs).toEqual([]);
  });

  test('ends at once where the call ended for a reason after which none may follow', async () => {
    world.sideband.endWith('content');
    await node.settled();
    expect(world.endReason).toBe('upstream_ended');
  });
});
