import { beforeEach, describe, expect, test } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { CONSOLE, somebody } from '../support/app.ts';
import { errorOf, upgrade } from './app.ts';
import { app, useApp } from '../support/use-apps.ts';
import { changedAt } from '../support/key-change.ts';

const { build, database } = useApp();

let key: WidgetKey;
beforeEach(async () => {
  key = await app.key();
});

const open = (headers: Readonly<Record<string, string>>) => app.get('/api/realtime/socket', headers);

describe('Opening the heartbeat channel', () => {
  test('is allowed for pages of widgets and of the console, and for clients that are not browsers', async () => {
    const origins: Record<string, string>[] = [{}, { origin: key.origin }, { origin: CONSOLE }];
    for (const origin of origins) expect((await open({ ...upgrade, ...origin })).status).toBe(101);
  });

  test.each(['https://evil.example', 'null', '', 'https://localhost:3000'])(
    'is refused for the page of "%s", before the 101',
    async (origin) => {
      expect(errorOf(await open({ ...upgrade, origin }))).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
    },
  );

  test('is refused for the page of a revoked key', async () => {
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    expect((await open({ ...upgrade, origin: key.origin })).status).toBe(403);
  });

  test.each([
    ['connection', 'keep-alive'],
    ['upgrade', 'h2c'],
    ['sec-websocket-version', '8'],
    ['sec-websocket-key', 'x'],
    ['sec-websocket-protocol', 'mqtt, switchboard.v2'],
  ])('with %s: %s is not an upgrade', async (name, value) => {
    expect(errorOf(await open({ ...upgrade, [name]: value }))).toEqual({ status: 400, code: 'INVALID_REQUEST' });
  });

  test('chooses our subprotocol among several, in any order', async () => {
    const offered = { 'sec-websocket-protocol': 'mqtt , switchboard.v1', connection: 'keep-alive, upgrade' };
    expect((await open({ ...upgrade, ...offered })).status).toBe(101);
  });

  test('waits for nothing, not even a login: the database may be away', async () => {
    const cookie = await app.login(somebody());
    const { asked } = database();
    const reply = await open({ ...upgrade, origin: CONSOLE, cookie });
    expect(reply.status).toBe(101);
    expect(database().asked).toBe(asked);
  });

  test('is counted by the window of the address', async () => {
    const narrow = await build({ env: { RATE_IP_PER_MIN: '1' } });
    const statuses = [
      await narrow.get('/api/realtime/socket', upgrade),
      await narrow.get('/api/realtime/socket', upgrade),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([101, 429]);
  });

  test('needs no database, even with a cookie', async () => {
    database().isAway = true;
    expect((await open({ ...upgrade, cookie: 'tenant_session=a.b.c' })).status).toBe(101);
  });
});
