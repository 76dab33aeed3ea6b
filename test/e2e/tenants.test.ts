import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Reply } from '../support/client.ts';
import { runToEnd } from '../support/switchboard.ts';
import { acme, embedded, site, siteKey, World, type TenantsFile } from '../support/world.ts';
import { soon } from '../support/soon.ts';

const shop = 'https://shop.acme.example';
const shopKey = 'w_acme_shop_22222222222222222222222222222222';

let world: World;

afterEach(() => world.close());

function withKeys(...keys: readonly object[]): TenantsFile {
  return { tenants: acme.tenants.map((tenant) => ({ ...tenant, widgetKeys: keys })) };
}

const siteEntry = { id: 'site', key: siteKey, origin: site };
const shopEntry = { id: 'shop', key: shopKey, origin: shop };

function create(widgetKey: string, origin: string): Promise<Reply> {
  return world.visitor(origin).post('/api/session', { widgetKey, agentId: 'support' });
}

describe('A change of the tenants file', () => {
  test('revokes a key without a restart, and ends only its sessions', async () => {
    world = await World.start({}, withKeys(siteEntry, shopEntry));
    const { sm_session_id: revoked } = (await create(siteKey, site)).body;
    const { sm_session_id: other } = (await create(shopKey, shop)).body;

    await world.writeTenants(withKeys({ ...siteEntry, revoked: true }, shopEntry));
    await vi.waitFor(
      async () =>
        expect(await world.visitor().post('/api/realtime/heartbeat', { sm_session_id: revoked })).toMatchObject({
          status: 403,
          body: { code: 'SESSION_DURATION_EXCEEDED', reason: 'key_revoked' },
        }),
      soon,
    );
    expect(await create(siteKey, site)).toMatchObject({ status: 401, body: { code: 'INVALID_WIDGET_KEY' } });
    expect((await world.visitor(shop).post('/api/realtime/heartbeat', { sm_session_id: other })).status).toBe(200);
  });

  test('cannot undo a revocation, and neither can a restart', async () => {
    world = await World.start({}, withKeys({ ...siteEntry, revoked: true }));
    await world.writeTenants(withKeys(siteEntry, shopEntry));
    await vi.waitFor(async () => expect((await create(shopKey, shop)).status).toBe(200), soon);
    expect((await create(siteKey, site)).status).toBe(401);
    await world.restart('SIGKILL');
    expect((await create(siteKey, site)).status).toBe(401);
  });
});

describe('The keys commands', () => {
  test('say what to do while a server holds the embedded database', async () => {
    world = await World.start(embedded);
    const { code, stderr } = await runToEnd(['keys', 'list'], world.environment);
    expect(code).toBe(69);
    expect(stderr).toContain('A server is running on the embedded database');
  });

  test('issue and revoke keys that the next start serves', async () => {
    world = await World.start();
    await world.server.end('SIGTERM');
    const run = (...args: string[]) => runToEnd(['keys', ...args], world.environment);

    const issued = await run('issue', '--tenant', 'acme', '--site', 'shop', '--origin', shop, '--json');
    expect(issued.code, issued.stderr).toBe(0);
    const { key, id } = JSON.parse(issued.stdout) as { key: string; id: string };
    expect(key).toMatch(/^w_acme_shop_[0-9a-f]{32}$/);
    await world.startServer();
    expect((await create(key, shop)).status).toBe(200);

    await world.server.end('SIGTERM');
    expect((await run('revoke', '--tenant', 'acme', '--id', id, '--reason', 'rotation')).code).toBe(0);
    await world.startServer();
    expect((await create(key, shop)).status).toBe(401);
    expect((await create(siteKey, site)).status).toBe(200);
  });
});
