import { describe, expect, test } from 'vitest';
import { CONSOLE, service, SERVICE_NAME, somebody, STAFF } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';

useApp({ env: STAFF });

const at = (sec: number): string => new Date(NOON + sec * SECOND).toISOString();

async function loggedIn(email = somebody()): Promise<{ id: string; email: string; cookie: string }> {
  const cookie = await app.login(email);
  const { body } = await app.get('/api/auth/session', { cookie });
  return { id: String(body['sessionId']), email, cookie };
}

interface Listed {
  readonly id: string;
  readonly email: string;
  readonly state: string;
  readonly subject: string;
}

async function pagesOf(what: 'logins' | 'challenges', query: string, headers = service as Record<string, string>) {
  const rows: Listed[] = [];
  let cursor = '';
  do {
    const { status, body } = await app.get(`/api/operator/${what}?${query}${cursor}`, headers);
    expect([status, body['error']]).toEqual([200, undefined]);
    rows.push(...(body[what] as Listed[]));
    cursor = body['nextCursor'] === null ? '' : `&cursor=${body['nextCursor'] as string}`;
  } while (cursor !== '');
  return rows;
}

describe('Console logins', () => {
  test('are listed by state, newest first, with who it was and when', async () => {
    const older = await loggedIn();
    app.clock.advance(SECOND);
    const newer = await loggedIn();
    await app.post('/api/auth/logout', {}, { cookie: older.cookie, origin: CONSOLE });
    const ids = (await pagesOf('logins', 'limit=1')).map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual([newer.id, older.id]);
    const active = await pagesOf('logins', 'state=active');
    expect(active.map(({ id }) => id)).toContain(newer.id);
    expect(active.map(({ id }) => id)).not.toContain(older.id);
    expect(await pagesOf('logins', `q=${older.id}`)).toEqual([
      {
        id: older.id,
        email: older.email,
        createdAt: at(0),
        renewedAt: at(0),
        expiresAt: at(86_400),
        state: 'destroyed',
        reason: 'logout',
        endedAt: at(1),
      },
    ]);
    expect(await pagesOf('logins', `q=${older.id}&state=active`)).toEqual([]);
    app.clock.advance(2 * 86_400 * SECOND);
    expect(await pagesOf('logins', `q=${newer.id}`)).toMatchObject([
      { state: 'destroyed', reason: 'expired', endedAt: at(86_401) },
    ]);
  });

  test('are shown singly with the events of their machine', async () => {
    const { id, cookie } = await loggedIn();
    const { headers } = await app.post('/api/auth/logout', {}, { cookie, origin: CONSOLE });
    await app.service.journalWriter.flush();
    const { body } = await app.get(`/api/operator/logins/${id}`, service);
    expect(body).toMatchObject({
      id,
      machine: 'auth-session',
      moreEvents: false,
      events: [
        {
          kind: 'ended',
          event: 'DESTROY',
          from: 'active',
          to: 'destroyed',
          detail: { reason: 'logout' },
          requestId: headers['x-request-id'],
        },
        { kind: 'started', event: 'OPEN', to: 'active' },
      ],
    });
  });

  test('are revoked by operators at once, only once, and with a row in the audit', async () => {
    const { id, cookie } = await loggedIn();
    const path = `/api/operator/logins/${id}/revoke`;
    expect((await app.post(path, { reason: 'stolen' }, service)).body).toEqual({ ok: true, alreadyEnded: false });
    expect((await app.get('/api/auth/session', { cookie })).status).toBe(401);
    expect((await app.post(path, {}, service)).body).toEqual({ ok: true, alreadyEnded: true });
    const { body } = await app.get(`/api/operator/audit?target=${id}`, service);
    expect(body['rows']).toMatchObject([
      { action: 'login.revoke', actor: SERVICE_NAME, result: 'unchanged', tenantId: null },
      { action: 'login.revoke', result: 'done', reason: 'stolen' },
    ]);
    expect(await pagesOf('logins', `q=${id}`)).toMatchObject([{ reason: 'revoked' }]);
  });
});

describe('Login codes', () => {
  test('are listed by state, newest first, and shown singly with the guards that were checked, but never with a hash', async () => {
    const email = somebody();
    await app.post('/api/auth/otp/send', { email });
    await app.service.codes.settled();
    const code = /\b\d{6}\b/.exec(app.outbox.list()[0]?.text ?? '')?.[0] ?? '';
    const wrong = code === '000000' ? '111111' : '000000';
    const { headers } = await app.post('/api/auth/otp/verify', { email, code: wrong });
    const subject = app.service.subjects.console(email);
    const [challenge] = await pagesOf('challenges', 'state=pending&limit=1');
    expect(challenge).toEqual({
      id: challenge?.id,
      subject,
      issuedAt: at(0),
      expiresAt: at(600),
      attempts: 1,
      maxAttempts: 5,
      state: 'pending',
    });
    await app.service.journalWriter.flush();
    const { status, text, body } = await app.get(`/api/operator/challenges/${challenge?.id}`, service);
    expect([status, body]).toMatchObject([
      200,
      {
        ...challenge,
        machine: 'otp-challenge',
        events: [
          {
            kind: 'stayed',
            event: 'REDEEM',
            requestId: headers['x-request-id'],
            guards: expect.arrayContaining([{ name: 'codeMatches', passed: false }]) as unknown,
          },
          { kind: 'started', requestId: expect.stringMatching(/^req_/) as unknown },
        ],
      },
    ]);
    const record = await app.service.stores.challenges.load(challenge?.id ?? '');
    for (const secret of [record?.codeHash ?? '?', record?.asker ?? '?', code, email])
      expect(text).not.toContain(secret);
    app.clock.advance(601 * SECOND);
    expect(await pagesOf('challenges', 'state=pending')).toEqual([]);
    expect((await pagesOf('challenges', 'state=expired&limit=1')).map(({ id }) => id)).toContain(challenge?.id);
  });
});
