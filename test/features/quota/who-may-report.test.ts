import { beforeEach, describe, expect, test } from 'vitest';
import { CONSOLE, service, somebody, type TestApp } from '../../support/app.ts';
import { MINUTE, SECOND } from '../../support/clock.ts';
import { useApps } from '../../support/use-apps.ts';
import { attached } from '../../channel/client.ts';
import { changedAt } from '../../support/key-change.ts';

const { build } = useApps();

let app: TestApp;
beforeEach(async () => {
  app = await build();
});

const report = (body: object, headers: Record<string, string> = {}) =>
  app.post('/api/auth/usage', { tokens: 5, dollars: 0, ...body }, headers);

const tokensOf = async (email: string): Promise<unknown> =>
  (
    (await report({ email, tenantId: 'acme', tokens: 0 }, service)).body['usage'] as
      | { readonly tokens: number }
      | undefined
  )?.tokens;

describe('A usage report that a session proves', () => {
  test('is counted for five minutes after the end, and refused then with the reason of the end', async () => {
    const email = somebody();
    const sm_session_id = await app.open(await app.key(), { email });
    await app.post('/api/realtime/end', { sm_session_id, email });
    app.clock.advance(5 * MINUTE);
    expect(await report({ sm_session_id, email })).toMatchObject({ status: 200, body: { usage: { tokens: 5 } } });
    app.clock.advance(1);
    expect(await report({ sm_session_id, email })).toMatchObject({
      status: 403,
      body: { code: 'SESSION_DURATION_EXCEEDED', reason: 'closed_by_client', maxMinutes: 15 },
    });
    expect(await tokensOf(email)).toBe(5);
  });

  test('is counted as long as the session lives, however long that is', async () => {
    app = await build({ env: { MAX_SESSION_MINUTES: '1440' } });
    const sm_session_id = await app.open(await app.key());
    app.clock.advance(60 * MINUTE);
    expect(await report({ sm_session_id })).toMatchObject({ status: 200, body: { usage: { tokens: 5 } } });
  });

  test('of a revoked key is refused at once', async () => {
    const [email, key] = [somebody(), await app.key()];
    const sm_session_id = await app.open(key, { email });
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    expect(await report({ sm_session_id, email })).toMatchObject({
      status: 401,
      body: { code: 'INVALID_WIDGET_KEY' },
    });
    expect(await tokensOf(email)).toBe(0);
  });

  test('is counted at any time when a service token comes with it', async () => {
    const [email, key] = [somebody(), await app.key()];
    const sm_session_id = await app.open(key, { email });
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    app.clock.advance(60 * MINUTE);
    expect(await report({ sm_session_id }, service)).toMatchObject({ status: 200, body: { usage: { tokens: 5 } } });
  });

  test('logs out who opened a session that ran out of time, as a heartbeat does', async () => {
    const [cookie, email] = [await app.login('late@example.com'), 'late@example.com'];
    const opened = await app.post('/api/session', { tenantId: 'acme' }, { cookie, origin: CONSOLE });
    const sm_session_id = String(opened.body['sm_session_id']);
    app.clock.advance(301 * SECOND);
    await app.sessions.heartbeat(sm_session_id, app.clock.now(), undefined, () => true);
    app.clock.advance(6 * MINUTE);
    const reply = await report({ sm_session_id, email }, { cookie, origin: CONSOLE });
    expect(reply).toMatchObject({ status: 403, body: { reason: 'idle_exceeded' } });
    expect(reply.headers['set-cookie']).toContain('Max-Age=0');
  });

  test('tells a socket that missed the end of it', async () => {
    const sm_session_id = await app.open(await app.key());
    const client = attached(app, sm_session_id);
    const { registry } = app.live;
    const record = await registry.load(sm_session_id);
    if (record === undefined) throw new Error('it was opened');
    const ended = { endedAtMs: app.clock.now(), endReason: 'closed_by_operator', version: record.version + 1 } as const;
    await registry.save({ ...record, ...ended }, record.version);
    app.clock.advance(5 * MINUTE + 1);
    client.say({ type: 'usage', tokens: 5, dollars: 0, id: 'late' });
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'closed_by_operator' });
    expect(client.closeCode).toBe(4403);
  });
});
