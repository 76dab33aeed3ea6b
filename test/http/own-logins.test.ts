import { describe, expect, test } from 'vitest';
import { CONSOLE, SERVICE_TOKEN, somebody, type Reply } from '../support/app.ts';
import { MINUTE } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

useApp();

interface OwnLogin {
  readonly id: string;
  readonly isCurrent: boolean;
}

async function listed(cookie: string): Promise<readonly OwnLogin[]> {
  const { status, body } = await app.get('/api/auth/logins', { cookie });
  expect(status).toBe(200);
  return body['logins'] as readonly OwnLogin[];
}

const revoke = (id: string, cookie: string, origin = CONSOLE): Promise<Reply> =>
  app.post(`/api/auth/logins/${id}/revoke`, {}, { cookie, origin });

describe('A user who is logged in', () => {
  test('sees their own active logins, and which of them is the present one', async () => {
    const email = somebody();
    const laptop = await app.login(email);
    app.clock.advance(MINUTE);
    const phone = await app.login(email);
    const over = await app.login(email);
    await app.post('/api/auth/logout', {}, { cookie: over, origin: CONSOLE });
    await app.login(somebody());
    const seen = await listed(laptop);
    expect(seen).toEqual([
      {
        id: expect.stringMatching(/^auth_/),
        createdAt: expect.stringMatching(/Z$/),
        renewedAt: expect.stringMatching(/Z$/),
        expiresAt: expect.stringMatching(/Z$/),
        isCurrent: false,
      },
      expect.objectContaining({ isCurrent: true }),
    ]);
    expect((await listed(phone)).map(({ id, isCurrent }) => [id, !isCurrent])).toEqual(
      seen.map(({ id, isCurrent }) => [id, isCurrent]),
    );
  });

  test('ends another login of their own, and keeps the present one', async () => {
    const email = somebody();
    const [stolen, mine] = [await app.login(email), await app.login(email)];
    const { id = '' } = (await listed(mine)).find(({ isCurrent }) => !isCurrent) ?? {};
    const reply = await revoke(id, mine);
    expect([reply.status, reply.body]).toEqual([200, { ok: true, alreadyEnded: false }]);
    expect((await app.get('/api/auth/session', { cookie: stolen })).status).toBe(401);
    expect((await app.get('/api/auth/session', { cookie: mine })).status).toBe(200);
    expect((await revoke(id, mine)).body).toEqual({ ok: true, alreadyEnded: true });
    expect(await app.service.stores.logins.load(id)).toMatchObject({ destroyReason: 'revoked' });
  });

  test('logs out by ending the present login', async () => {
    const cookie = await app.login(somebody());
    const [current] = await listed(cookie);
    const reply = await revoke(current?.id ?? '', cookie);
    expect([reply.status, reply.headers['set-cookie']]).toEqual([200, expect.stringMatching(/^tenant_session=;/)]);
    expect(errorOf(await app.get('/api/auth/logins', { cookie }))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
  });

  test('cannot reach somebody else’s login, which looks as if it did not exist', async () => {
    const [mine, theirs] = [await app.login(somebody()), await app.login(somebody())];
    const [foreign] = await listed(theirs);
    const replies = [await revoke(foreign?.id ?? '', mine), await revoke('auth_0000000000000000000000', mine)];
    for (const reply of replies) expect(errorOf(reply)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(replies[0]?.body['error']).toBe(replies[1]?.body['error']);
    expect((await app.get('/api/auth/session', { cookie: theirs })).status).toBe(200);
  });

  test('cannot be made to end one by a foreign page', async () => {
    const cookie = await app.login(somebody());
    const [current] = await listed(cookie);
    expect(errorOf(await revoke(current?.id ?? '', cookie, 'https://evil.example')).code).toBe('ORIGIN_MISMATCH');
    expect(await listed(cookie)).toHaveLength(1);
  });
});

test('A login’s id proves nothing: neither it without its cookie nor a service token gives access', async () => {
  const cookie = await app.login(somebody());
  const [current] = await listed(cookie);
  const id = current?.id ?? '';
  const senders: readonly Record<string, string>[] = [
    { cookie: `tenant_session=${id}` },
    { authorization: `Bearer ${SERVICE_TOKEN}` },
    {},
  ];
  for (const headers of senders) {
    expect(errorOf(await app.get('/api/auth/logins', headers))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
    expect(errorOf(await app.post(`/api/auth/logins/${id}/revoke`, {}, { ...headers, origin: CONSOLE })).code).toBe(
      'AUTH_REQUIRED',
    );
  }
  expect((await app.get('/api/auth/session', { cookie })).status).toBe(200);
});
