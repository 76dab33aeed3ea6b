import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../../../src/kernel/errors.ts';
import { restoreLost } from '../../../../src/sessions/recovery/restore.ts';
import { sweep } from '../../../../src/sessions/recovery/sweep.ts';
import { defaults, end, opened, play } from '../../../machines/voice-session-support.ts';
import { NOON, SECOND } from '../../../support/clock.ts';
import { RecoveryNode } from './support.ts';

const session = opened(NOON);
const bystander = { ...session, id: `s:${'1'.repeat(32)}:${'A'.repeat(22)}`, subject: '1'.repeat(32) };
const over = play(session, defaults, [end(NOON, 'closed_by_operator')]).record;
/** Longer than any outage is remembered, and than any test takes. */
const LONG_MS = 1_000_000;
const anybody = (): boolean => true;

let node: RecoveryNode;
beforeEach(async () => {
  node = new RecoveryNode();
  await node.hold(session);
});

const beat = async () => node.sessions.heartbeat(session.id, node.clock.now(), undefined, anybody);

describe.each(['writes', 'everything'] as const)('While the live stores refuse %s', (refused) => {
  beforeEach(async () => {
    await sweep(node.sessions.recovery);
    node.refused = refused;
    node.clock.advance(45 * SECOND);
  });

  test('heartbeats are counted in the history, and in the registry afterwards', async () => {
    const outcome = await beat();
    expect(outcome?.record.lastSeenAtMs).toBe(node.clock.now());
    expect(node.history.rows.get(session.id)).toEqual(outcome?.record);
    node.refused = 'nothing';
    await sweep(node.sessions.recovery);
    expect(node.seen(session).held?.lastSeenAtMs).toBe(node.clock.now());
  });

  test('an end is in the history before it is answered, and final at once when they are back', async () => {
    await node.sessions.end(session.id, 'closed_by_client', node.clock.now());
    expect(node.history.rows.get(session.id)).toMatchObject({ endReason: 'closed_by_client' });
    node.refused = 'nothing';
    expect(node.seen(session).held?.endReason).toBeNull();
    expect((await beat())?.record.endReason).toBe('closed_by_client');
  });

  test('an end of another node is believed to the history, also when they are just back', async () => {
    await beat();
    node.history.rows.set(session.id, over);
    expect((await beat())?.record.endReason).toBe('closed_by_operator');
    node.refused = 'nothing';
    expect((await beat())?.record.endReason).toBe('closed_by_operator');
  });

  test('an end that this node knows is final also when the database is away', async () => {
    await node.sessions.end(session.id, 'closed_by_client', node.clock.now());
    node.history.isAway = true;
    expect((await beat())?.record.endReason).toBe('closed_by_client');
    node.refused = 'nothing';
    expect((await beat())?.record.endReason).toBe('closed_by_client');
  });

  test('a session that nothing happened to meanwhile is not believed to live before the others could tell', async () => {
    await node.hold(bystander);
    await beat();
    node.history.rows.set(bystander.id, { ...over, id: bystander.id });
    node.refused = 'nothing';
    node.sessions.recovery.outage.send({ type: 'CALL_FAILED', at: performance.now() + LONG_MS });
    const beaten = await node.sessions.heartbeat(bystander.id, node.clock.now(), undefined, anybody);
    expect(beaten?.record.endReason).toBe('closed_by_operator');
  });
});

describe('While the live stores and the database are away', () => {
  test('a caller is told so, and is served as soon as the live stores are back', async () => {
    node.refused = 'everything';
    node.history.isAway = true;
    await expect(beat()).rejects.toThrow(Unavailable);
    node.refused = 'nothing';
    expect((await beat())?.record.lastSeenAtMs).toBe(node.clock.now());
  });

  test('also a caller whose change was not saved', async () => {
    node.refused = 'writes';
    node.history.isAway = true;
    await expect(beat()).rejects.toThrow(Unavailable);
    node.refused = 'nothing';
    expect((await beat())?.record.lastSeenAtMs).toBe(node.clock.now());
  });
});

describe('When the outage is over', () => {
  test('the registry is believed again, and the history is not asked', () => {
    const { outage } = node.sessions.recovery;
    outage.send({ type: 'CALL_FAILED', at: performance.now() - LONG_MS });
    node.history.isAway = true;
    expect(node.sessions.heartbeat(session.id, NOON, undefined, anybody)).not.toBeInstanceOf(Promise);
    expect(outage.state).toBe('up');
  });
});

describe('A registry that has lost a session', () => {
  test('gets it back by its heartbeat, slot included', async () => {
    const other = new RecoveryNode();
    await other.history.insert({ record: session });
    await other.sessions.heartbeat(session.id, NOON, undefined, anybody);
    expect(other.seen(session)).toMatchObject({ held: { id: session.id }, slots: 1 });
  });

  test('gets all live sessions back at the start, and none that has ended', async () => {
    const other = new RecoveryNode();
    const ended = { ...over, id: bystander.id, subject: bystander.subject };
    for (const record of [session, ended]) await other.history.insert({ record });
    await restoreLost(other.sessions.recovery);
    expect([other.seen(session), other.seen(ended)]).toMatchObject([
      { held: { endReason: null }, slots: 1 },
      { held: undefined, slots: 0 },
    ]);
  });

  test('answers that the history is away, not that the session is unknown', async () => {
    const other = new RecoveryNode();
    other.history.isAway = true;
    await expect(other.sessions.find(session.id)).rejects.toThrow(Unavailable);
  });
});

describe('A sweep', () => {
  test('tells the outage that the live stores are away, and that they are back', async () => {
    const { outage } = node.sessions.recovery;
    node.refused = 'everything';
    await expect(sweep(node.sessions.recovery)).rejects.toThrow(Unavailable);
    expect(outage.state).toBe('away');
    node.refused = 'nothing';
    await sweep(node.sessions.recovery);
    expect(outage.state).toBe('doubtful');
  });

  test('closes nothing while others may still have to tell of heartbeats', async () => {
    node.clock.advance(301 * SECOND);
    const claiming = vi.spyOn(node.live.registry, 'claimDue');
    node.sessions.recovery.outage.send({ type: 'SWEEP_FAILED', at: performance.now() + LONG_MS });
    await sweep(node.sessions.recovery);
    expect(claiming).not.toHaveBeenCalled();
  });

  test('ends what ended before the process started and nobody told the registry of', async () => {
    node.history.rows.set(session.id, over);
    await sweep(node.sessions.recovery);
    expect(node.seen(session)).toMatchObject({
      held: { endReason: 'closed_by_operator' },
      slots: 0,
      told: ['closed_by_operator'],
    });
  });

  test('tells of no end that the registry knows', async () => {
    await node.sessions.end(session.id, 'closed_by_operator', NOON);
    await sweep(node.sessions.recovery);
    expect(node.seen(session).told).toEqual(['closed_by_operator']);
  });

  test('closes what is due also while the database is away, and asks it again for missed ends', async () => {
    await node.hold(bystander);
    await restoreLost(node.sessions.recovery);
    node.clock.advance(301 * SECOND);
    node.history.rows.set(session.id, { ...over, endedAtMs: node.clock.now() });
    node.history.isAway = true;
    await sweep(node.sessions.recovery);
    expect(node.seen(bystander)).toMatchObject({ held: { settledAtMs: node.clock.now(), endedAtMs: null }, slots: 0 });
    expect(node.seen(session).held?.endedAtMs).toBeNull();
    node.history.isAway = false;
    await sweep(node.sessions.recovery);
    expect(node.seen(session).held?.endReason).toBe('closed_by_operator');
    expect(node.sessions.recovery.outage.missedForMs(performance.now())).toBeUndefined();
  });
});
