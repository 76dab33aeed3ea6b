import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { activity, defaults, end, heartbeat, opened, SECOND } from '../machines/voice-session-support.ts';
import { NOON } from '../support/clock.ts';
import { reasonToSkipRedis } from '../support/services/redis.ts';
import { Installation, SocketNode, useRedisOfTwo } from './socket-nodes.ts';
import { atEach } from './support.ts';

const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`A session with a socket ${skipped ?? ''}`, () => {
  const { service, ways } = useRedisOfTwo();
  let all: Installation;
  let here: SocketNode;
  let there: SocketNode;
  const session = opened(NOON);
  const { id } = session;

  beforeEach(() => begin(session));

  async function begin(record: VoiceRecord): Promise<void> {
    await service().flush();
    all = new Installation(defaults);
    here = new SocketNode(all, ways()[0]);
    there = new SocketNode(all, ways()[1]);
    await here.restore();
    await here.open(record);
    here.attached.add(record.id);
    here.asked.length = 0;
  }

  const now = (): number => all.clock.now();
  const beat = (node: SocketNode, idleSec?: number) => node.send(heartbeat(now(), idleSec), id);
  /** Sends a heartbeat that is answered before it is saved. */
  function beatThatWaits(node: SocketNode, idleSec?: number): void {
    const outcome = beat(node, idleSec);
    expect(outcome).not.toBeInstanceOf(Promise);
    expect(outcome).toMatchObject({ record: { lastSeenAtMs: now(), endReason: null }, facts: [] });
  }
  const stored = () => there.registry.load(id);

  test('gets its heartbeats answered at once, without asking Redis, which then gets all of them together', async () => {
    for (let n = 0; n < 100; n += 1) {
      all.clock.advance(1);
      beatThatWaits(here);
    }
    expect(here.asked).toEqual([]);
    expect(await stored()).toMatchObject({ lastSeenAtMs: NOON });
    await here.sessions.beats?.flush();
    expect(here.asked).toEqual(['beat']);
    expect(await stored()).toMatchObject({ lastSeenAtMs: now(), lastActivityAtMs: now() });
    await here.sessions.beats?.flush();
    expect(here.asked).toEqual(['beat']);
  });

  test('has them saved in two calls together with those of a thousand other sessions', async () => {
    const many = Array.from({ length: 1000 }, (_, n) => ({
      ...session,
      id: `s:${session.subject}:${String(n).padStart(22, '0')}`,
    }));
    for (const { id: one } of many) here.attached.add(one);
    await Promise.all(many.map((one) => here.open(one)));
    all.clock.advance(SECOND);
    for (const one of many) await here.send(heartbeat(now()), one.id);
    expect(here.sessions.beats).toMatchObject({ size: 1000, taken: 1000 });
    await atEach(service(), ['CONFIG', 'RESETSTAT']);
    await here.sessions.beats?.flush();
    const [stats] = (await atEach(service(), ['INFO', 'commandstats'])) as string[];
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats ?? '')?.[1]).toBe('2');
    expect(await there.registry.load(many[999]?.id ?? '')).toMatchObject({ lastSeenAtMs: now() });
  });

  test('renews its slot with them', async () => {
    all.clock.advance(200 * SECOND);
    beatThatWaits(here);
    await here.sessions.beats?.flush();
    const { slots } = here;
    expect(await slots.count(session.subject, NOON + 400 * SECOND)).toBe(1);
  });

  test('is read by this node with the heartbeats that it has answered', async () => {
    all.clock.advance(SECOND);
    beatThatWaits(here);
    expect(await here.sessions.find(id)).toMatchObject({ lastSeenAtMs: now() });
  });

  test('is read with heartbeats that were answered while others were being saved', async () => {
    all.clock.advance(SECOND);
    beatThatWaits(here);
    const flushing = here.sessions.beats?.flush();
    all.clock.advance(SECOND);
    beatThatWaits(here);
    expect(await here.sessions.find(id)).toMatchObject({ lastSeenAtMs: now() });
    await flushing;
    expect(await stored()).toMatchObject({ lastSeenAtMs: now() });
  });

  test('has them queued for the history when Redis does not take them, without waiting for Redis', async () => {
    all.clock.advance(SECOND);
    beatThatWaits(here);
    vi.spyOn(all.history, 'save').mockReturnValue(new Promise(() => undefined));
    here.isRedisAway = true;
    await here.sessions.beats?.flush();
    const { writer, pendingWrites } = here.sessions.recovery;
    for (const waiting of [writer.waiting, pendingWrites.waiting])
      expect(waiting.get(id)).toMatchObject({ lastSeenAtMs: now() });
  });

  test('has them in the history once Redis has them', async () => {
    // The first heartbeat of a window.
    all.clock.advance(80 * SECOND);
    beatThatWaits(here);
    await here.sessions.recovery.writer.flush();
    expect(all.history.rows.get(id)).toMatchObject({ lastSeenAtMs: NOON });
    await here.sessions.beats?.flush();
    await here.sessions.recovery.writer.flush();
    expect(all.history.rows.get(id)).toMatchObject({ lastSeenAtMs: now() });
  });

  test('does not lose activity that is reported meanwhile in another way, here or elsewhere', async () => {
    all.clock.advance(100 * SECOND);
    beatThatWaits(here, 90);
    all.clock.advance(1);
    await here.send(activity(now()), id);
    expect(await stored()).toMatchObject({ lastSeenAtMs: now() - 1, lastActivityAtMs: now() });
    all.clock.advance(50 * SECOND);
    beatThatWaits(here, 50);
    await there.send(activity(now() - 1), id);
    await here.sessions.beats?.flush();
    expect(await stored()).toMatchObject({ lastSeenAtMs: now(), lastActivityAtMs: now() - 1 });
  });

  test.each([
    ['without a socket here', () => here.attached.clear()],
    ['while the bus is cut', () => (here.bus = 'cut')],
    [
      'after a failure of Redis',
      () => here.sessions.recovery.outage.send({ type: 'CALL_FAILED', at: performance.now() }),
    ],
    ['less than five seconds before a deadline that Redis knows', () => all.clock.advance(297 * SECOND)],
    [
      'once the session moved on another node',
      () => all.tell(there, { type: 'session.moved', sessionId: id, state: 'idle', endReason: null }),
    ],
  ])('has them saved before they are answered %s', async (_, change) => {
    change();
    await beat(here);
    expect(await stored()).toMatchObject({ lastSeenAtMs: now(), version: 2 });
  });

  test('does not count them as activity while another node hears its call', async () => {
    await begin({ ...session, isHeard: true });
    await here.sessions.find(id);
    all.clock.advance(SECOND);
    await there.sessions.noteHeard(id, now(), now() + 20 * SECOND);
    all.clock.advance(SECOND);
    beatThatWaits(here);
    await here.sessions.beats?.flush();
    expect(await stored()).toMatchObject({
      lastSeenAtMs: now(),
      lastActivityAtMs: NOON,
      heardUntilMs: NOON + 21 * SECOND,
    });
  });

  test('has them saved at once when the last ones still wait after a second', async () => {
    beatThatWaits(here);
    all.clock.advance(1001);
    await beat(here);
    expect(await stored()).toMatchObject({ lastSeenAtMs: now(), version: 3 });
    expect(here.sessions.beats?.size).toBe(0);
  });

  test('that sends heartbeats to two nodes has them saved at once from the first conflict on, and the later time counts', async () => {
    here.attached.add(id);
    there.attached.add(id);
    await there.sessions.find(id);
    all.clock.advance(SECOND);
    beatThatWaits(here);
    all.clock.advance(100);
    beatThatWaits(there);
    for (const node of [there, here]) await node.sessions.beats?.flush();
    expect(await stored()).toMatchObject({ lastSeenAtMs: now() });
    all.clock.advance(SECOND);
    const outcome = beat(here);
    expect(outcome).toBeInstanceOf(Promise);
    await outcome;
    expect(await stored()).toMatchObject({ lastSeenAtMs: now() });
  });

  test('that another node ended between two saves stays ended, and its sockets hear of that even if the bus lost the message', async () => {
    here.bus = 'deaf';
    await there.send(end(now()), id);
    expect(here.told).toEqual([]);
    all.clock.advance(100);
    beatThatWaits(here);
    await here.sessions.beats?.flush();
    expect(await stored()).toMatchObject({ endReason: 'closed_by_client', endedAtMs: NOON });
    expect(here.told).toEqual(['closed_by_client']);
    expect(await beat(here)).toMatchObject({ record: { endReason: 'closed_by_client' } });
  });

  test('is ended by the clock when no heartbeats come, dated at the instant when that was due', async () => {
    beatThatWaits(here);
    await all.pass(15 * 60 * SECOND + 2);
    await there.sweep();
    expect(await stored()).toMatchObject({ endedAtMs: null });
    await all.pass(7200 * SECOND);
    await there.sweep();
    expect(await stored()).toMatchObject({ endReason: 'abandoned' });
  });

  test('that sends heartbeats up to its maximum duration ends then, whichever node sweeps', async () => {
    for (let second = 0; second < 900; second += 45) {
      await beat(here);
      await all.pass(45 * SECOND);
      await there.sweep();
    }
    await all.pass(1);
    await there.sweep();
    expect(await stored()).toMatchObject({ endReason: 'duration_exceeded', endedAtMs: NOON + 900 * SECOND });
    expect(here.told).toEqual(['duration_exceeded']);
  });

  test('keeps what its node answered before Redis went away, whichever comes back first', async () => {
    all.clock.advance(SECOND);
    beatThatWaits(here);
    here.isRedisAway = true;
    await here.sessions.beats?.flush();
    await here.sessions.recovery.writer.flush();
    expect(all.history.rows.get(id)).toMatchObject({ lastSeenAtMs: now() });
    await service().flush();
    await there.restore();
    expect(await stored()).toMatchObject({ lastSeenAtMs: now() });
    await here.heal();
    expect(await stored()).toMatchObject({ lastSeenAtMs: now() });
  });

  test('loses no more than what was not saved when its node is killed', async () => {
    all.clock.advance(SECOND);
    beatThatWaits(here);
    await here.sessions.beats?.flush();
    const savedMs = now();
    all.clock.advance(400);
    beatThatWaits(here);
    here = here.crash();
    expect(await here.sessions.find(id)).toMatchObject({ lastSeenAtMs: savedMs, endReason: null });
  });
});
