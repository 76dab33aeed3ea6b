import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { somebody, type TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { errorOf } from './app.ts';
import { soon } from '../support/soon.ts';
import { useApps } from '../support/use-apps.ts';
import { changedAt } from '../support/key-change.ts';

const { build, database } = useApps();

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build();
  key = await app.key();
});

describe('A create with an Idempotency-Key', () => {
  const keyed = { 'idempotency-key': 'create-0123456789' };

  test('returns the same session again and mints once, even when both come at once', async () => {
    const [first, second] = await Promise.all([app.create(key, {}, keyed), app.create(key, {}, keyed)]);
    const third = await app.create(key, {}, keyed);
    expect([second?.body, third.body]).toEqual([first?.body, first?.body]);
    expect(app.provider.requests).toHaveLength(1);
  });

  test('that waits for the first stops looking when its caller has gone', async () => {
    const release = app.provider.hold();
    const first = app.create(key, {}, keyed);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const { idempotentReplies } = app.service.stores;
    const look = vi.spyOn(idempotentReplies, 'look');
    const abort = new AbortController();
    const headers = { ...keyed, origin: key.origin };
    const body = { widgetKey: key.key };
    const second = app.send({ method: 'POST', path: '/api/session', body, headers, signal: abort.signal });
    await vi.waitFor(() => expect(look).toHaveBeenCalled());
    abort.abort();
    expect((await second).status).toBe(503);
    release();
    expect((await first).status).toBe(200);
  });

  test('waits for the first even if that takes longer than a mint may, because the stores are slow', async () => {
    const release = app.provider.hold();
    const first = app.create(key, {}, keyed);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    app.clock.advance(17 * SECOND);
    const claim = vi.spyOn(app.service.stores.idempotentReplies, 'claim');
    const second = app.create(key, {}, keyed);
    await vi.waitFor(() => expect(claim).toHaveBeenCalled());
    release();
    expect((await second).body).toEqual((await first).body);
    expect(app.provider.requests).toHaveLength(1);
  });

  test('is told to try again if the first does not finish, after looking less and less often', async () => {
    const pauses: number[] = [];
    const pause = async (ms: number) => pauses.push(ms);
    app = await build({ env: { UPSTREAM_TIMEOUT_MS: '100' }, pause });
    const release = app.provider.hold();
    const first = app.create(key, {}, keyed);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const look = vi.spyOn(app.service.stores.idempotentReplies, 'look');
    expect(await app.create(key, {}, keyed)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
      body: { code: 'SERVICE_UNAVAILABLE', error: expect.stringContaining('Idempotency-Key') },
    });
    // It gives up after more than 2.1 s: UPSTREAM_TIMEOUT_MS and two seconds more.
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1000]);
    expect(look).toHaveBeenCalledTimes(6);
    release();
    expect((await first).status).toBe(200);
  });

  test('is refused with another body, and forgotten after ten minutes', async () => {
    await app.create(key, {}, keyed);
    expect(errorOf(await app.create(key, { voice: 'cedar' }, keyed))).toEqual({
      status: 422,
      code: 'IDEMPOTENCY_MISMATCH',
    });
    app.clock.advance(10 * MINUTE);
    expect((await app.create(key, { voice: 'cedar' }, keyed)).status).toBe(200);
    expect(app.provider.requests).toHaveLength(2);
  });

  test('is a separate create for another key, tenant or console user', async () => {
    const globex = await app.key({ tenantId: 'globex', id: key.id });
    const email = somebody();
    const named = await app.key({ id: email });
    const replies = [
      await app.create(key, {}, keyed),
      await app.create(await app.key(), {}, keyed),
      await app.create(globex, {}, keyed),
      await app.create(named, {}, keyed),
      await app.post('/api/session', {}, { ...keyed, cookie: await app.login(email) }),
      await app.post('/api/session', {}, { ...keyed, cookie: await app.login(somebody()) }),
    ];
    expect(new Set(replies.map(({ body }) => body['sm_session_id'])).size).toBe(6);
  });

  test('may be tried again after a refusal', async () => {
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new Error('away'));
    expect((await app.create(key, {}, keyed)).status).toBe(500);
    app.provider.answer = answer;
    expect((await app.create(key, {}, keyed)).status).toBe(200);
  });

  test('does not answer a caller whose key has been revoked since, or who comes from elsewhere', async () => {
    await app.create(key, {}, keyed);
    expect((await app.create(key, {}, { ...keyed, origin: 'https://evil.example' })).status).toBe(403);
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    expect((await app.create(key, {}, keyed)).status).toBe(401);
  });

  test('is opened even if its reply cannot be stored', async () => {
    const { idempotentReplies } = app.service.stores;

    idempotentReplies.keep = () => Promise.reject(new Unavailable('database'));
    expect((await app.create(key, {}, keyed)).status).toBe(200);
  });

  test.each(['', 'k', 'k'.repeat(15), 'k'.repeat(256)])('of %j is refused', async (text) => {
    const reply = await app.create(key, {}, { 'idempotency-key': text });
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(reply.body['details']).toEqual([{ path: 'Idempotency-Key', message: 'must have 16 to 255 characters' }]);
  });

  test.each(['k'.repeat(16), 'k'.repeat(255)])('of %j is accepted', async (text) => {
    const headers = { 'idempotency-key': text };
    const [first, again] = [await app.create(key, {}, headers), await app.create(key, {}, headers)];
    expect([first.status, again.body]).toEqual([200, first.body]);
  });

  test('gives a stranger elsewhere a session of their own, and a caller of the same network the same one', async () => {
    const from = (peer: string, headers: object = {}) => {
      const all = { ...keyed, origin: key.origin, ...headers };
      return app.send({ method: 'POST', path: '/api/session', body: { widgetKey: key.key }, headers: all, peer });
    };
    const first = await from('198.51.100.7');
    const other = await from('198.51.100.8');
    expect(other.status).toBe(200);
    expect(other.body['sm_session_id']).not.toBe(first.body['sm_session_id']);
    expect((await from('198.51.100.7')).body).toEqual(first.body);
    const six = await from('2001:db8:0:1::7');
    expect((await from('2001:db8:0:1:ffff::8')).body).toEqual(six.body);
    expect((await from('2001:db8:0:2::7')).body['sm_session_id']).not.toBe(six.body['sm_session_id']);
  });

  test('is a separate create from another origin, or without one', async () => {
    app = await build({ env: { REQUIRE_ORIGIN_FOR_WIDGETS: 'false' } });
    const body = { widgetKey: key.key };
    const replies = [await app.create(key, {}, keyed), await app.post('/api/session', body, keyed)];
    expect(new Set(replies.map((reply) => reply.body['sm_session_id'])).size).toBe(2);
  });

  test('writes nothing while it waits for the first', async () => {
    const release = app.provider.hold();
    const first = app.create(key, {}, keyed);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const { idempotentReplies } = app.service.stores;
    const [claim, look] = [vi.spyOn(idempotentReplies, 'claim'), vi.spyOn(idempotentReplies, 'look')];
    const version = () =>
      database().run((sql) => sql<{ row: string }[]>`select xmin::text || ctid::text as row from replay order by 1`);
    const before = [...(await version())];
    const duplicates = Array.from({ length: 20 }, () => app.create(key, {}, keyed));
    await vi.waitFor(() => expect(look.mock.calls.length).toBeGreaterThanOrEqual(60), soon);
    expect([...(await version())]).toEqual(before);
    expect(claim).toHaveBeenCalledTimes(20);
    release();
    const replies = await Promise.all([first, ...duplicates]);
    expect(new Set(replies.map(({ body }) => body['sm_session_id'])).size).toBe(1);
  });

  test('keeps no client secret in the open', async () => {
    const { body } = await app.create(key, {}, { 'idempotency-key': 'sealed-0123456789' });
    const { value } = body['client_secret'] as { value: string };
    const rows = await database().run(
      (sql) => sql<{ sealed: Buffer | null; keyHash: string }[]>`select sealed, key_hash from replay`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.sealed?.toString('latin1') ?? '').not.toContain(value);
      expect(row.keyHash).not.toContain('sealed-0123456789');
    }
  });
});
