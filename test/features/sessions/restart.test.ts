import { beforeEach, describe, expect, test } from 'vitest';
import { restoreLost } from '../../../src/sessions/recovery/restore.ts';
import { somebody, type TestApp } from '../../support/app.ts';
import { MINUTE, SECOND } from '../../support/clock.ts';
import { useApps } from '../../support/use-apps.ts';
import { changedAt } from '../../support/key-change.ts';

const { build, database } = useApps();

let app: TestApp;
beforeEach(async () => {
  app = await build();
});

const anybody = (): boolean => true;

/** Ends the process, with everything that was only in its memory, and starts another on the same database. */
async function restart(options: { env?: Record<string, string> } = {}): Promise<void> {
  await app.close();
  app = await build({ clock: app.clock, ...options });
  await restoreLost(app.sessions.recovery);
}

const limits = { concurrentSessions: 1, sessionsPerMinute: 100 };

describe('After a restart', () => {
  test('a session goes on where it was, and keeps its place', async () => {
    const key = await app.key({ limits });
    const id = await app.open(key, { email: 'ada@example.com' });
    app.clock.advance(45 * SECOND);
    const body = { sm_session_id: id, email: 'ada@example.com' };
    const before = await app.post('/api/realtime/heartbeat', body);
    await app.flush();
    await restart();
    expect(await app.post('/api/realtime/heartbeat', body)).toMatchObject({ status: 200, body: before.body });
    expect((await app.create(key, { email: 'ada@example.com' })).body['code']).toBe('MAX_CONCURRENT_SESSIONS');
  });

  test('what fell due meanwhile has the end that it would have had', async () => {
    const key = await app.key({ limits: { ...limits, concurrentSessions: 10 } });
    const openedAt = app.clock.now();
    const beating = await app.open(key);
    const silent = await app.open(key);
    for (let n = 0; n < 19; n += 1) {
      app.clock.advance(45 * SECOND);
      await app.sessions.heartbeat(beating, app.clock.now(), undefined, anybody);
    }
    await app.flush();
    app.clock.advance(150 * MINUTE);
    await restart();
    await app.sweep();
    expect(await app.sessions.find(beating)).toMatchObject({
      endedAtMs: openedAt + 15 * MINUTE,
      endReason: 'duration_exceeded',
    });
    expect(await app.sessions.find(silent)).toMatchObject({
      endedAtMs: openedAt + 7201 * SECOND,
      endReason: 'abandoned',
    });
    const row = await app.service.stores.history.find(beating);
    expect(row).toEqual(await app.sessions.find(beating));
  });

  test('an idle session is still idle, holds no place, and ends with its next heartbeat', async () => {
    const key = await app.key({ limits });
    const id = await app.open(key);
    app.clock.advance(301 * SECOND);
    await app.sweep();
    await restart();
    expect((await app.create(key)).status).toBe(200);
    const reply = await app.post('/api/realtime/heartbeat', { sm_session_id: id });
    expect(reply).toMatchObject({ status: 403, body: { reason: 'idle_exceeded' } });
  });

  test('an ended session has not come back to life', async () => {
    const id = await app.open(await app.key());
    await app.post('/api/realtime/end', { sm_session_id: id });
    await restart();
    expect(app.live.registry.load(id)).toBeUndefined();
    const reply = await app.post('/api/realtime/heartbeat', { sm_session_id: id });
    expect(reply).toMatchObject({ status: 403, body: { reason: 'closed_by_client' } });
  });

  test('a session is found by its first heartbeat also when nothing was restored at the start', async () => {
    const id = await app.open(await app.key());
    const next = await build({ clock: app.clock });
    expect(await next.post('/api/realtime/heartbeat', { sm_session_id: id })).toMatchObject({ status: 200 });
    expect(next.live.registry.load(id)).toBeDefined();
  });

  test('with a shorter maximum duration the sessions that are over it end, once', async () => {
    const id = await app.open(await app.key());
    for (let n = 0; n < 8; n += 1) {
      app.clock.advance(MINUTE);
      await app.sessions.heartbeat(id, app.clock.now(), undefined, anybody);
    }
    await app.flush();
    await restart({ env: { MAX_SESSION_MINUTES: '5' } });
    await app.sweep();
    expect(await app.sessions.find(id)).toMatchObject({ endReason: 'duration_exceeded' });
  });

  test('key and quota still end the sessions that were opened before', async () => {
    const [key, other] = [await app.key(), await app.key({ limits: { dailyTokens: 10 } })];
    const email = somebody();
    const revoked = await app.open(key);
    const spent = await app.open(other, { email });
    await restart();
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    await app.service.directory.stop();
    await app.post('/api/auth/usage', { sm_session_id: spent, email, tokens: 11, dollars: 0 });
    const records = [await app.sessions.find(revoked), await app.sessions.find(spent)];
    expect(records.map((record) => record?.endReason)).toEqual(['key_revoked', 'quota_exceeded']);
  });
});

describe('Two processes on one live registry', () => {
  test('give a session one end, whoever is asked', async () => {
    const id = await app.open(await app.key());
    const other = await build({ clock: app.clock, live: app.live });
    const ends = await Promise.all([
      app.sessions.end(id, 'closed_by_client', app.clock.now()),
      other.sessions.end(id, 'closed_by_operator', app.clock.now()),
    ]);
    expect(new Set(ends.map((end) => end?.record.endReason)).size).toBe(1);
    expect(ends.flatMap((end) => end?.facts ?? [])).toHaveLength(1);
  });

  test('write an end down that the other could not before it died, because the database was away', async () => {
    const id = await app.open(await app.key());
    const other = await build({ clock: app.clock, live: app.live });
    database().isAway = true;
    await app.sessions.end(id, 'closed_by_client', app.clock.now());
    app.clock.advance(2 * SECOND);
    await other.sweep();
    database().isAway = false;
    await other.flush();
    expect((await app.service.stores.history.find(id))?.endReason).toBe('closed_by_client');

    const late = await app.open(await app.key());
    database().isAway = true;
    await app.sessions.end(late, 'closed_by_client', app.clock.now());
    database().isAway = false;
    app.clock.advance(2 * SECOND);
    await other.sweep();
    expect((await app.service.stores.history.find(late))?.endReason).toBe('closed_by_client');
  });

  test('share their sweep: no session is settled twice', async () => {
    const key = await app.key({ limits: { ...limits, concurrentSessions: 20 } });
    for (let n = 0; n < 10; n += 1) await app.open(key);
    const other = await build({ clock: app.clock, live: app.live });
    app.clock.advance(301 * SECOND);
    const looked = await Promise.all([app.sweep(), other.sweep()]);
    expect(looked[0] + looked[1]).toBe(10);
  });
});
