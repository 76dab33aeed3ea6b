import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { somebody, type TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { errorOf } from './app.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build();
  key = await app.key();
});

describe('A create with an Idempotency-Key', () => {
  const keyed = { 'idempotency-key': 'create-1' };

  test('gives the same session again and mints once, also when both come at once', async () => {
    const [first, second] = await Promise.all([app.create(key, {}, keyed), app.create(key, {}, keyed)]);
    const third = await app.create(key, {}, keyed);
    expect([second?.body, third.body]).toEqual([first?.body, first?.body]);
    expect(app.provider.requests).toHaveLength(1);
  });

  test('that waits for the first stops asking when its caller has gone', async () => {
    const release = app.provider.hold();
    const first = app.create(key, {}, keyed);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const { replays } = app.service.stores;
    const claim = vi.spyOn(replays, 'claim');
    const abort = new AbortController();
    const headers = { ...keyed, origin: key.origin };
    const body = { widgetKey: key.key };
    const second = app.send({ method: 'POST', path: '/api/session', body, headers, signal: abort.signal });
    await vi.waitFor(() => expect(claim.mock.calls.length).toBeGreaterThan(1));
    abort.abort();
    expect((await second).status).toBe(503);
    release();
    expect((await first).status).toBe(200);
  });

  test('waits for the first also when that takes longer than a mint may, because the stores are slow', async () => {
    const release = app.provider.hold();
    const first = app.create(key, {}, keyed);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    app.clock.advance(17 * SECOND);
    const claim = vi.spyOn(app.service.stores.replays, 'claim');
    const second = app.create(key, {}, keyed);
    await vi.waitFor(() => expect(claim).toHaveBeenCalled());
    release();
    expect((await second).body).toEqual((await first).body);
    expect(app.provider.requests).toHaveLength(1);
  });

  test('is told to come again when the first does not finish', async () => {
    app = await build({ env: { UPSTREAM_TIMEOUT_MS: '100' } });
    const release = app.provider.hold();
    const first = app.create(key, {}, keyed);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await app.create(key, {}, keyed)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '2' },
      body: { code: 'SERVICE_UNAVAILABLE', error: expect.stringContaining('Idempotency-Key') },
    });
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

  test('is another create for another key, tenant or console user', async () => {
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

  test('that was refused may be tried again', async () => {
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new Error('away'));
    expect((await app.create(key, {}, keyed)).status).toBe(500);
    app.provider.answer = answer;
    expect((await app.create(key, {}, keyed)).status).toBe(200);
  });

  test('does not answer one whose key was revoked since, or who comes from elsewhere', async () => {
    await app.create(key, {}, keyed);
    expect((await app.create(key, {}, { ...keyed, origin: 'https://evil.example' })).status).toBe(403);
    await app.service.stores.tenants.revoke('acme', key.id, app.clock.now());
    await app.service.directory.reload();
    expect((await app.create(key, {}, keyed)).status).toBe(401);
  });

  test('is opened also when its reply cannot be kept', async () => {
    const { replays } = app.service.stores;

    replays.keep = () => Promise.reject(new Unavailable('database'));
    expect((await app.create(key, {}, keyed)).status).toBe(200);
  });

  test.each(['', 'k'.repeat(256)])('of %j is refused', async (text) => {
    const reply = await app.create(key, {}, { 'idempotency-key': text });
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(reply.body['details']).toMatchObject([{ path: 'Idempotency-Key' }]);
  });

  test('keeps no client secret in the open', async () => {
    const { body } = await app.create(key, {}, { 'idempotency-key': 'sealed' });
    const { value } = body['client_secret'] as { value: string };
    const rows = await database().run(
      (sql) => sql<{ sealed: Buffer | null; key_hash: string }[]>`select sealed, key_hash from replay`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.sealed?.toString('latin1') ?? '').not.toContain(value);
      expect(row.key_hash).not.toContain('sealed');
    }
  });
});
