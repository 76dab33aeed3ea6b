import { describe, expect, test } from 'vitest';
import { closeDue } from '../../../src/sessions/recovery/sweep.ts';
import { somebody } from '../../support/app.ts';
import { MINUTE, SECOND } from '../../support/clock.ts';
import { app, useApp } from '../../support/use-apps.ts';

const { database } = useApp();

const anybody = (): boolean => true;

/** Sends heartbeats every 45 seconds for `ms`. */
async function keepAlive(id: string, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 45 * SECOND) {
    app.clock.advance(Math.min(45 * SECOND, ms - passedMs));
    await app.sessions.heartbeat(id, app.clock.now(), undefined, anybody);
  }
}

/** The record in the database after a flush. */
async function kept(id: string) {
  await app.flush();
  return app.service.stores.history.find(id);
}

describe('A session', () => {
  test('is in the history before its create is answered', async () => {
    const id = await app.open(await app.key());
    expect(await app.service.stores.history.find(id)).toMatchObject({ id, version: 1, startedAtMs: app.clock.now() });
  });

  test('goes on for as long as it beats, and its heartbeats reach the history in batches', async () => {
    const id = await app.open(await app.key());
    await keepAlive(id, 14 * MINUTE);
    expect(app.sessions.recovery.writer.waiting.size).toBe(1);
    expect(await kept(id)).toMatchObject({ endedAtMs: null, lastSeenAtMs: app.clock.now() });
    expect(app.sessions.recovery.writer.waiting.size).toBe(0);
  });

  test('is ended by the sweep at the very end of its duration, and is in the history when the sweep is done', async () => {
    const start = app.clock.now();
    const id = await app.open(await app.key());
    await keepAlive(id, 15 * MINUTE);
    await app.sweep();
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
    app.clock.advance(700);
    await app.sweep();
    const end = { endedAtMs: start + 15 * MINUTE, endReason: 'duration_exceeded' };
    expect(await app.service.stores.history.find(id)).toMatchObject(end);
  });

  test('that went idle is told so, stays active, and ends with the next heartbeat', async () => {
    const id = await app.open(await app.key());
    app.clock.advance(301 * SECOND);
    await app.sweep();
    const { rows } = (await app.service.stores.history.list({ states: ['idle'] }, undefined, 10)) ?? { rows: [] };
    expect(rows.map(({ record }) => record.id)).toContain(id);
    app.clock.advance(5 * SECOND);
    const outcome = await app.sessions.heartbeat(id, app.clock.now(), undefined, anybody);
    expect(outcome?.record).toMatchObject({ endedAtMs: app.clock.now(), endReason: 'idle_exceeded' });
  });

  test('gets the same terminal answer on every later heartbeat, also when the registry has forgotten it', async () => {
    const key = await app.key();
    const id = await app.open(key);
    const beat = () => app.post('/api/realtime/heartbeat', { sm_session_id: id });
    await app.post('/api/realtime/end', { sm_session_id: id });
    const first = await beat();
    expect(first).toMatchObject({ status: 403, body: { reason: 'closed_by_client', maxMinutes: 15 } });
    app.clock.advance(2 * MINUTE - 1);
    await app.sweep();
    expect(app.live.registry.load(id)).toBeDefined();
    app.clock.advance(1);
    await app.sweep();
    expect(app.live.registry.load(id)).toBeUndefined();
    expect((await beat()).body).toEqual(first.body);
    expect(app.live.registry.load(id)).toBeUndefined();
  });

  test('ends once, however many ask for it at once, and all get the same answer', async () => {
    const id = await app.open(await app.key());
    const reasons = ['closed_by_client', 'closed_by_operator', 'upstream_ended', 'quota_exceeded'] as const;
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, async (_, n) =>
        app.sessions.end(id, reasons[n % 4] ?? 'closed_by_client', app.clock.now()),
      ),
    );
    expect(outcomes.filter((outcome) => outcome !== undefined && outcome.facts.length > 0)).toHaveLength(1);
    expect(new Set(outcomes.map((outcome) => outcome?.record.endReason))).toEqual(new Set(['closed_by_client']));
  });

  test('of another caller, and an id that nobody has, are unknown alike', async () => {
    const id = await app.open(await app.key(), { email: somebody() });
    const nobody = `s:${'0'.repeat(32)}:${'A'.repeat(22)}`;
    const end = (sessionId: string) =>
      app.sessions.end(sessionId, 'closed_by_client', app.clock.now(), undefined, () => false);
    expect([await end(id), await end(nobody)]).toEqual([undefined, undefined]);
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
  });
});

describe('A sweep', () => {
  test('tells how many records it looked at, and looks at none that is not due', async () => {
    const key = await app.key({ limits: { concurrentSessions: 50, sessionsPerMinute: 50 } });
    for (let n = 0; n < 5; n += 1) await app.open(key);
    expect(await app.sweep()).toBe(0);
    app.clock.advance(301 * SECOND);
    expect(await closeDue(app.clock.now(), 3, 5000, app.sessions.recovery)).toBe(3);
    expect(await app.sweep()).toBe(2);
    expect(await app.sweep()).toBe(0);
  });

  test('goes on with the others when one record fails, and tells of the failure', async () => {
    const key = await app.key();
    const ids = [await app.open(key), await app.open(key), await app.open(key)];
    app.clock.advance(301 * SECOND);
    const { registry } = app.live;
    const recall = registry.recall.bind(registry);
    registry.recall = (id) => {
      if (id === ids[1]) throw new Error('a record that cannot be read');
      return recall(id);
    };
    await expect(app.sweep()).rejects.toThrow('cannot be read');
    registry.recall = recall;
    const states = await Promise.all(ids.map(async (id) => app.sessions.find(id)));
    expect(states.map((record) => record?.settledAtMs === app.clock.now())).toEqual([true, false, true]);
    // Once its claim has lapsed, the next sweep looks at it again.
    app.clock.advance(5 * SECOND);
    expect(await app.sweep()).toBe(1);
  });

  test('forgets no ended session before the history has its end', async () => {
    const id = await app.open(await app.key());
    database().isAway = true;
    await app.sessions.end(id, 'closed_by_client', app.clock.now());
    app.clock.advance(3 * MINUTE);
    await app.sweep();
    expect(app.live.registry.load(id)).toBeDefined();
    database().isAway = false;
    await app.flush();
    const outcome = await app.sessions.heartbeat(id, app.clock.now(), undefined, anybody);
    expect(outcome?.record.endReason).toBe('closed_by_client');
    app.clock.advance(5 * SECOND);
    await app.sweep();
    expect(app.live.registry.load(id)).toBeUndefined();
    expect(await app.service.stores.history.find(id)).toMatchObject({ endReason: 'closed_by_client' });
  });
});

describe('While the database is away', () => {
  test('heartbeats go on, sessions end on time, and all of it is in the history afterwards', async () => {
    const key = await app.key();
    const [going, ending] = [await app.open(key), await app.open(key)];
    await keepAlive(going, 4 * MINUTE);
    database().isAway = true;
    app.clock.advance(61 * SECOND);
    const outcome = await app.sessions.heartbeat(going, app.clock.now(), undefined, anybody);
    expect(outcome?.record.lastSeenAtMs).toBe(app.clock.now());
    await app.sweep();
    expect(await app.sessions.find(ending)).toMatchObject({ endedAtMs: null, settledAtMs: app.clock.now() });
    await expect(app.flush()).rejects.toThrow('database');
    expect(app.sessions.recovery.writer.waiting.size).toBe(2);
    database().isAway = false;
    expect(await kept(going)).toMatchObject({ lastSeenAtMs: app.clock.now() });
    expect(await kept(ending)).toMatchObject({ settledAtMs: app.clock.now() });
  });

  test('only the first transition waits for it', async () => {
    const key = await app.key();
    const ids = [await app.open(key), await app.open(key), await app.open(key)];
    database().isAway = true;
    const asked = [];
    for (const id of ids) {
      const before = database().asked;
      await app.sessions.end(id, 'closed_by_client', app.clock.now());
      asked.push(database().asked - before);
    }
    expect(asked).toEqual([1, 0, 0]);
    database().isAway = false;
    for (const id of ids) expect(await kept(id)).toMatchObject({ endReason: 'closed_by_client' });
  });
});
