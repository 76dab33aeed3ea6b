import { beforeEach, describe, expect, test } from 'vitest';
import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import { Unavailable } from '../../../../src/kernel/errors.ts';
import type { PendingWrites } from '../../../../src/sessions/recovery/pending-writes.ts';
import { clock, defaults, end, heartbeat, opened, play } from '../../../machines/voice-session-support.ts';
import { NOON, SECOND } from '../../../support/clock.ts';
import { RecoveryNode } from './support.ts';

const session = opened(NOON);
const beaten = play(session, defaults, [heartbeat(NOON + 5 * SECOND)]).record;
const silent = play(session, defaults, [clock(NOON + 301 * SECOND)]).record;
const over = play(session, defaults, [end(NOON + 7 * SECOND, 'closed_by_client')]).record;

let node: RecoveryNode;
let pending: PendingWrites;
beforeEach(() => {
  node = new RecoveryNode();
  pending = node.sessions.recovery.pendingWrites;
});

describe('What waits for the live stores', () => {
  test('of an end is the record, the slot and the announcement', async () => {
    await node.hold(session);
    pending.add(over);
    expect([pending.waiting.get(session.id), pending.waiting.size]).toEqual([over, 1]);
    await pending.flush();
    expect(node.seen(session)).toMatchObject({
      held: { endReason: 'closed_by_client', endedAtMs: over.endedAtMs },
      slots: 0,
      told: ['closed_by_client'],
    });
    expect([pending.waiting.get(session.id), pending.waiting.size]).toEqual([undefined, 0]);
  });

  test('of many sessions is looked up in parts', async () => {
    for (let n = 0; n < 2500; n += 1) pending.add({ ...over, id: `${over.id}${n}` });
    await pending.flush();
    expect(node.history.lookedUp).toEqual([1000, 1000, 500]);
    expect(pending.waiting.size).toBe(0);
  });

  test('of an engaged session is the record and the slot', async () => {
    await node.stores.registry.insert(session);
    pending.add(beaten);
    await pending.flush();
    expect(node.seen(session)).toMatchObject({ held: { lastSeenAtMs: beaten.lastSeenAtMs }, slots: 1, told: [] });
  });

  test('of a session that went idle is the record, and its slot is free', async () => {
    await node.hold(session);
    pending.add(silent);
    await pending.flush();
    expect(node.seen(session)).toMatchObject({ held: { settledAtMs: silent.settledAtMs }, slots: 0, told: [] });
  });

  test('is put into a registry that lost the session, above all versions that anybody remembers', async () => {
    pending.add(beaten);
    await pending.flush();
    const { held, slots } = node.seen(session);
    expect([held?.lastSeenAtMs, slots]).toEqual([beaten.lastSeenAtMs, 1]);
    expect(held?.version).toBeGreaterThan(100_000);
  });

  test('of an end does not bring back a session that the registry forgot, and is told', async () => {
    pending.add(over);
    await pending.flush();
    expect(node.seen(session)).toEqual({ held: undefined, slots: 0, told: ['closed_by_client'] });
  });

  test('changes nothing in a registry that knows better', async () => {
    await node.hold(over);
    pending.add(beaten);
    await pending.flush();
    expect(node.seen(session)).toMatchObject({ held: over, slots: 0 });
  });

  test('is an end when the history knows of one, whatever this node heard', async () => {
    await node.hold(session);
    node.history.rows.set(session.id, over);
    pending.add(beaten);
    await pending.flush();
    expect(node.seen(session)).toMatchObject({ held: { endReason: 'closed_by_client' }, slots: 0 });
  });

  test('stays an end when something older is added', () => {
    pending.add(over);
    pending.add(beaten);
    expect(pending.waiting.get(session.id)).toBe(over);
  });

  test('is the later of two times, whichever was added first', () => {
    pending.add(beaten);
    pending.add(session);
    expect(pending.waiting.get(session.id)).toMatchObject({ lastSeenAtMs: beaten.lastSeenAtMs });
  });
});

describe('A flush', () => {
  test.each(['writes', 'everything'] as const)(
    'skips nothing of a record when the live stores refused %s at first',
    async (refused) => {
      await node.hold(session);
      pending.add(over);
      node.refused = refused;
      await expect(pending.flush()).rejects.toThrow(Unavailable);
      expect([pending.waiting.size, node.seen(session)]).toMatchObject([1, { held: session, slots: 1, told: [] }]);
      node.refused = 'nothing';
      await pending.flush();
      expect([pending.waiting.size, node.seen(session)]).toMatchObject([0, { slots: 0, told: ['closed_by_client'] }]);
    },
  );

  test('writes nothing while the history is away: it may know of ends', async () => {
    await node.hold(session);
    node.history.isAway = true;
    pending.add(beaten);
    await expect(pending.flush()).rejects.toThrow(Unavailable);
    expect([pending.waiting.size, node.seen(session).held]).toEqual([1, session]);
  });

  test('asks nobody when nothing waits', async () => {
    node.history.isAway = true;
    await expect(pending.flush()).resolves.toBeUndefined();
  });

  test('leaves to the next what somebody else changed meanwhile', async () => {
    await node.hold(session);
    pending.add(over);
    node.live.registry.save = () => Promise.resolve(false);
    await pending.flush();
    expect([pending.waiting.size, node.seen(session)]).toMatchObject([1, { told: [] }]);
  });

  test('keeps what was added while it was under way', async () => {
    await node.hold(session);
    const load = node.live.registry.load.bind(node.live.registry);
    node.live.registry.load = (id) => {
      pending.add(over);
      return load(id);
    };
    pending.add(beaten);
    await pending.flush();
    expect(pending.waiting.get(session.id)).toBe(over);
  });

  test('goes on with the others when one record fails, and tells of the failure', async () => {
    const broken: VoiceRecord = { ...beaten, id: `s:${'1'.repeat(32)}:${'A'.repeat(22)}`, subject: '1'.repeat(32) };
    const load = node.live.registry.load.bind(node.live.registry);
    node.live.registry.load = (id) => (id === broken.id ? Promise.reject(new Error('cannot be read')) : load(id));
    pending.add(broken);
    pending.add(beaten);
    await expect(pending.flush()).rejects.toThrow('cannot be read');
    expect([pending.waiting.get(broken.id), pending.waiting.get(session.id)]).toEqual([broken, undefined]);
  });
});

describe('A slot', () => {
  test('is freed when the live stores are back, where they were away', async () => {
    await node.hold(session);
    node.refused = 'writes';
    await pending.freeSlot(over);
    expect(pending.waiting.get(session.id)).toBe(over);
    node.refused = 'nothing';
    await pending.flush();
    expect(node.seen(session).slots).toBe(0);
  });

  test('is freed at once where they are there, and nothing waits', async () => {
    await node.hold(session);
    await pending.freeSlot(over);
    expect([pending.waiting.size, node.seen(session).slots]).toEqual([0, 0]);
  });

  test('does not wait for a fault that is no outage to pass', async () => {
    node.live.slots.free = () => Promise.reject(new TypeError('a defect'));
    await expect(pending.freeSlot(over)).rejects.toThrow('a defect');
    expect(pending.waiting.size).toBe(0);
  });
});
