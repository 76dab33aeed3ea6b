import { beforeEach, describe, expect, test } from 'vitest';
import { VISITOR_MESSAGES } from '../../src/protocol/error-translations/by-language.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, service, somebody, type TestApp } from '../support/app.ts';
import { MINUTE, NOON, SECOND } from '../support/clock.ts';
import { errorOf } from './app.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build();
  key = await app.key();
});

const beat = (body: object, headers: Record<string, string> = {}) => app.post('/api/realtime/heartbeat', body, headers);
const end = (body: object, headers: Record<string, string> = {}) => app.post('/api/realtime/end', body, headers);

/** A session of a console user who has logged in. */
async function consoleSession() {
  const email = somebody();
  const cookie = await app.login(email);
  const { body } = await app.post('/api/session', {}, { cookie, origin: CONSOLE });
  return { email, cookie, sm_session_id: String(body['sm_session_id']) };
}

describe('A heartbeat', () => {
  test('returns the live record', async () => {
    const sm_session_id = await app.open(key);
    app.clock.advance(45_999);
    expect(await beat({ sm_session_id })).toMatchObject({ status: 200 });
    expect((await beat({ sm_session_id })).body).toEqual({
      ok: true,
      session: {
        active: true,
        startedAt: new Date(NOON).toISOString(),
        lastSeenAt: new Date(NOON + 45_999).toISOString(),
        durationSec: 45,
        idleSec: 0,
      },
    });
  });

  test('counts silence as the client reports it, and lets the session go idle however often it comes', async () => {
    const sm_session_id = await app.open(key);
    for (let seconds = 45; seconds <= 270; seconds += 45) {
      app.clock.advance(45 * SECOND);
      const { body } = await beat({ sm_session_id, idleSec: seconds });
      expect(body['session']).toMatchObject({ idleSec: seconds, lastSeenAt: new Date(app.clock.now()).toISOString() });
    }
    app.clock.advance(31 * SECOND);
    expect(await beat({ sm_session_id, idleSec: 301 })).toMatchObject({
      status: 403,
      body: { reason: 'idle_exceeded' },
    });
  });

  test('to a session that has ended gets the terminal 403, the same each time', async () => {
    const sm_session_id = await app.open(key);
    for (let minutes = 1; minutes <= 15; minutes += 1) {
      app.clock.advance(MINUTE);
      expect((await beat({ sm_session_id })).status).toBe(200);
    }
    app.clock.advance(1);
    const over = await beat({ sm_session_id });
    expect(over).toMatchObject({ status: 403 });
    expect(over.body).toEqual({
      error: expect.any(String),
      code: 'SESSION_DURATION_EXCEEDED',
      userMessage: expect.any(String),
      reason: 'duration_exceeded',
      maxMinutes: 15,
    });
    app.clock.advance(MINUTE);
    expect((await beat({ sm_session_id })).body).toEqual(over.body);
  });

  test('requires the e-mail that the session was created for, and answers alike for unknown sessions and those of others', async () => {
    const email = somebody();
    const sm_session_id = await app.open(key, { email });
    const unknown = await beat({ sm_session_id: `s:${'0'.repeat(32)}:${'A'.repeat(22)}`, email });
    expect(errorOf(unknown)).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
    for (const body of [{ sm_session_id }, { sm_session_id, email: somebody() }, { sm_session_id: 'nonsense', email }])
      expect((await beat(body)).body).toEqual(unknown.body);
    expect((await beat({ sm_session_id, email: email.toUpperCase() })).status).toBe(200);
  });

  test('ignores the e-mail for a session that was created without one', async () => {
    const sm_session_id = await app.open(key);
    expect((await beat({ sm_session_id, email: somebody() })).status).toBe(200);
  });

  test.each(['', null])('with the e-mail %j is treated as without one', async (email) => {
    expect((await beat({ sm_session_id: await app.open(key), email })).status).toBe(200);
    const named = await app.open(key, { email: somebody() });
    expect(errorOf(await beat({ sm_session_id: named, email }))).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
  });

  test('from a back end with a service token needs no e-mail, though a wrong one is refused', async () => {
    const sm_session_id = await app.open(key, { email: somebody() });
    expect((await beat({ sm_session_id }, service)).status).toBe(200);
    expect(errorOf(await beat({ sm_session_id, email: somebody() }, service))).toMatchObject({ status: 404 });
    expect(errorOf(await beat({ sm_session_id }, { authorization: 'Bearer x' }))).toMatchObject({ status: 404 });
  });

  test('does not work with a console user’s e-mail on a widget’s session, or the other way round', async () => {
    const { email, sm_session_id } = await consoleSession();
    const widgets = await app.open(key, { email });
    expect((await beat({ sm_session_id, email })).status).toBe(200);
    const [, hash] = sm_session_id.split(':');
    const [, , secret] = widgets.split(':');
    expect(errorOf(await beat({ sm_session_id: `s:${hash}:${secret}`, email }))).toMatchObject({ status: 404 });
  });

  test.each(["s:' or 1=1 --:x", 's::', `s:${'0'.repeat(32)}:${'A'.repeat(21)}\n`, '__proto__', '', 'S'.repeat(128)])(
    'with the id %j is answered with 404 without asking the database',
    async (sm_session_id) => {
      const { asked } = database();
      expect(errorOf(await beat({ sm_session_id }))).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
      expect(database().asked).toBe(asked);
    },
  );

  test('that ends a console session by its clock logs that login out, and no other', async () => {
    const { email, cookie, sm_session_id } = await consoleSession();
    app.clock.advance(301 * SECOND);
    const other = await app.login(email);
    const fromOther = await beat({ sm_session_id, email }, { cookie: other, origin: CONSOLE });
    expect([fromOther.status, fromOther.headers['set-cookie']]).toEqual([403, undefined]);
    const fromOwn = await beat({ sm_session_id, email }, { cookie, origin: CONSOLE });
    expect(fromOwn.headers['set-cookie']).toBe('tenant_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
    const statuses = [
      await app.get('/api/auth/session', { cookie }),
      await app.get('/api/auth/session', { cookie: other }),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([401, 200]);
  });

  test('from a foreign page ends no login, although the browser sends the cookie', async () => {
    const { email, cookie, sm_session_id } = await consoleSession();
    app.clock.advance(301 * SECOND);
    const reply = await beat({ sm_session_id, email }, { cookie, origin: key.origin });
    expect(reply.status).toBe(403);
    expect(reply.headers['set-cookie'] ?? '').not.toContain('Max-Age=0');
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(200);
  });

  test('that the window of the address refuses changes nothing', async () => {
    const narrow = await build({ env: { RATE_IP_PER_MIN: '2' } });
    const sm_session_id = await narrow.open(key);
    narrow.clock.advance(5 * SECOND);
    const body = { sm_session_id };
    const statuses = [(await narrow.post('/api/realtime/heartbeat', body)).status];
    narrow.clock.advance(5 * SECOND);
    statuses.push((await narrow.post('/api/realtime/heartbeat', body)).status);
    expect(statuses).toEqual([200, 429]);
    expect(await narrow.sessions.find(sm_session_id)).toMatchObject({ lastSeenAtMs: NOON + 5 * SECOND });
  });

  test('to a session that ended for a reason of a later version gets the terminal 403, too', async () => {
    const { email, cookie, sm_session_id } = await consoleSession();
    await end({ sm_session_id, email });
    await app.flush();
    await database().run(
      (sql) => sql`update voice_session set end_reason = 'later_reason' where id = ${sm_session_id}`,
    );
    app = await build();
    const reply = await beat({ sm_session_id, email }, { cookie, origin: CONSOLE });
    expect(errorOf(reply)).toEqual({ status: 403, code: 'SESSION_DURATION_EXCEEDED' });
    expect(reply.body).toMatchObject({
      reason: 'later_reason',
      userMessage: VISITOR_MESSAGES.en.errors.SESSION_DURATION_EXCEEDED,
    });
  });

  test('to a session that its client closed logs nobody out', async () => {
    const { email, cookie, sm_session_id } = await consoleSession();
    await end({ sm_session_id, email });
    const reply = await beat({ sm_session_id, email }, { cookie, origin: CONSOLE });
    expect([reply.status, reply.headers['set-cookie']]).toEqual([403, undefined]);
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(200);
  });
});

describe('An end by the client', () => {
  test('closes the session, and closing it again answers the same', async () => {
    const sm_session_id = await app.open(key);
    app.clock.advance(10 * SECOND);
    const first = await end({ sm_session_id });
    expect(first.body).toEqual({
      ok: true,
      session: {
        active: false,
        startedAt: new Date(NOON).toISOString(),
        lastSeenAt: new Date(NOON).toISOString(),
        durationSec: 10,
        idleSec: 10,
      },
    });
    app.clock.advance(MINUTE);
    expect(await end({ sm_session_id })).toMatchObject({ status: 200, body: first.body });
    expect(await beat({ sm_session_id })).toMatchObject({ status: 403, body: { reason: 'closed_by_client' } });
  });

  test('is not acknowledged before the database has it: 503, repeatedly and on every node, and 200 once it has', async () => {
    const sm_session_id = await app.open(key);
    const other = await build({ clock: app.clock, live: app.live });
    database().isAway = true;
    for (const node of [app, app, other]) {
      const reply = await node.post('/api/realtime/end', { sm_session_id });
      expect(errorOf(reply)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect(reply.headers['retry-after']).toBeDefined();
    }
    // The session is over all the same.
    expect(await app.sessions.find(sm_session_id)).toMatchObject({ endReason: 'closed_by_client' });
    database().isAway = false;
    await other.flush();
    expect(await other.post('/api/realtime/end', { sm_session_id })).toMatchObject({
      status: 200,
      body: { session: { active: false } },
    });
    expect(await app.service.stores.history.find(sm_session_id)).toMatchObject({ endReason: 'closed_by_client' });
  });

  test('survives the death of its process if it was acknowledged, and only then', async () => {
    const [acknowledged, refused] = [await app.open(key), await app.open(key)];
    expect((await end({ sm_session_id: acknowledged })).status).toBe(200);
    database().isAway = true;
    expect((await end({ sm_session_id: refused })).status).toBe(503);
    database().isAway = false;
    // Another process finds only what was stored.
    const restarted = await build({ clock: app.clock });
    const found = await Promise.all([acknowledged, refused].map(async (id) => restarted.sessions.find(id)));
    expect(found.map((record) => record?.endReason)).toEqual(['closed_by_client', null]);
  });

  test('of somebody else’s session is 404, and the session goes on', async () => {
    const email = somebody();
    const sm_session_id = await app.open(key, { email });
    expect(errorOf(await end({ sm_session_id, email: somebody() }))).toEqual({
      status: 404,
      code: 'SESSION_NOT_FOUND',
    });
    expect(errorOf(await end({ sm_session_id }))).toEqual({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect((await beat({ sm_session_id, email })).status).toBe(200);
  });

  test('from a back end with a service token needs no e-mail', async () => {
    const sm_session_id = await app.open(key, { email: somebody() });
    expect((await end({ sm_session_id }, service)).body).toMatchObject({ ok: true, session: { active: false } });
  });
});
