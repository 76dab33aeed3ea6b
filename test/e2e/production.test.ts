import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { freePort } from '../support/services/server-process.ts';
import { runToEnd, type Environment } from '../support/switchboard.ts';
import { World } from '../support/world.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const acme = { id: 'acme', widgetKeys: [{ key: 'w_acme_site', origin: 'https://acme.example' }] };
const other = { id: 'other', widgetKeys: [{ key: 'w_other_site', origin: 'https://other.example' }] };
const create = { model: 'gpt-realtime-2.1', voice: 'marin' };

let database: FreshDatabase;
let redis: RedisService;
let world: World;

describe.skipIf(reason !== undefined)(
  `Production where everybody can log in${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    beforeAll(async () => {
      [database, redis] = await Promise.all([neededDatabase(), startRedis()]);
      world = await World.start({ DATABASE_URL: database.url, REDIS_URL: redis.url });
    });

    afterAll(async () => {
      await world?.close();
      await database?.drop();
      await redis?.stop();
    });

    async function environment(): Promise<Environment> {
      const PORT = String(await freePort());
      const PUBLIC_URL = `http://localhost:${PORT}`;
      const opened = { NODE_ENV: 'production', CONSOLE_EMAILS: '*', BOT_PROVIDER: 'none', CALL_MODE: 'direct' };
      return { ...world.environment, ...opened, PORT, PUBLIC_URL };
    }

    test('does not start with a tenant that names no admins, and says what to do', async () => {
      await world.server.end();
      await world.writeTenants({ tenants: [acme, { ...other, admins: [] }] });
      const { code, stdout, stderr } = await runToEnd([], await environment());
      expect([code, stdout]).toEqual([78, '']);
      expect(stderr).toMatch(/tenant acme: has no admins, and CONSOLE_EMAILS=\* .*CONSOLE_EMAILS who may log in/);
      expect(stderr).not.toContain('tenant other');
    });

    test('admits to a tenant only the admins that it names, and nobody to a tenant that is only in the database', async () => {
      // Puts the tenant without admins into the database.
      await world.writeTenants({ tenants: [acme] });
      await world.startServer();
      await world.server.end();
      await world.writeTenants({ tenants: [{ ...other, admins: ['ada@other.example'] }] });
      await world.startServer(await environment());
      expect(world.printed()).toMatch(/"tenants":\["acme"\]/);
      const [ada, eve] = [await world.login('ada@other.example'), await world.login('eve@evil.example')];
      const forbidden = { status: 403, body: { code: 'FORBIDDEN' } };
      for (const tenantId of ['acme', 'other'])
        expect(await eve.post('/api/session', { ...create, tenantId })).toMatchObject(forbidden);
      expect(await ada.post('/api/session', { ...create, tenantId: 'acme' })).toMatchObject(forbidden);
      expect((await ada.post('/api/session', { ...create, tenantId: 'other' })).status).toBe(200);
    });
  },
);
