import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { soon } from '../support/soon.ts';
import { Client } from '../support/client.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { freePort } from '../support/services/server-process.ts';
import { Switchboard } from '../support/switchboard.ts';

const reason = reasonToSkipPostgres() ?? reasonToSkipRedis();
const site = 'https://www.acme.example';
const totals = {
  few: { concurrentSessions: 2 },
  slow: { sessionsPerMinute: 1_000_000, tokensDaily: 1000 },
} as const;

type KeyId = keyof typeof totals;

const keyOf = (id: KeyId): string => `w_acme_${id}_00000000000000000000000000000000`;

interface Visitor {
  readonly email: string;
  readonly sm_session_id: string;
}

describe.skipIf(reason !== undefined)(`The totals of a key over two nodes ${reason ?? ''}`, () => {
  let directory: string;
  let database: FreshDatabase;
  let redis: RedisService;
  const nodes: Switchboard[] = [];
  let visitors = 0;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-totals-'));
    [database, redis] = await Promise.all([neededDatabase(), startRedis()]);
    const tenantsFile = join(directory, 'tenants.json');
    const widgetKeys = Object.entries(totals).map(([id, of]) => {
      return { id, key: keyOf(id as KeyId), origin: site, totals: of };
    });
    await writeFile(tenantsFile, JSON.stringify({ tenants: [{ id: 'acme', widgetKeys }] }));
    // One after the other, because the first creates the tables.
    for (const name of ['one', 'two'])
      nodes.push(
        await Switchboard.start({
          PORT: String(await freePort()),
          DATA_DIR: join(directory, name),
          DATABASE_URL: database.url,
          REDIS_URL: redis.url,
          TENANTS_FILE: tenantsFile,
          // Without the echo, so that reported usage counts.
          NODE_ENV: 'test',
          RATE_IP_PER_MIN: '1000000',
        }),
      );
  });

  afterAll(async () => {
    for (const server of nodes) await server.end('SIGKILL');
    await redis?.stop();
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const onNode = (n: number): Client =>
    new Client(() => `http://127.0.0.1:${nodes[n % nodes.length]?.port}`, new Set(), { Origin: site });

  /** Creates a session on one of the nodes, for a visitor not seen before. */
  async function create(key: KeyId, n: number): Promise<string | Visitor> {
    visitors += 1;
    const email = `visitor-${visitors}@example.com`;
    const { status, body } = await onNode(n).post('/api/session', { widgetKey: keyOf(key), email });
    return status === 200 ? { email, sm_session_id: String(body.sm_session_id) } : String(body.code);
  }

  /** Creates sessions all at once, on both nodes in turn. @returns those that were opened, and why the others were refused */
  async function createAtOnce(key: KeyId, times: number): Promise<{ opened: Visitor[]; refused: Set<string> }> {
    const results = await Promise.all(Array.from({ length: times }, (_, n) => create(key, n)));
    const opened = results.flatMap((one) => (typeof one === 'string' ? [] : [one]));
    return { opened, refused: new Set(results.flatMap((one) => (typeof one === 'string' ? [one] : []))) };
  }

  it('admit exactly two of 40 invented visitors, even after Redis has lost everything', async () => {
    const { opened, refused } = await createAtOnce('few', 40);
    expect([opened.length, refused]).toEqual([2, new Set(['MAX_CONCURRENT_SESSIONS'])]);
    await redis.flush();
    expect((await createAtOnce('few', 10)).opened).toEqual([]);
    await onNode(1).post('/api/realtime/end', opened[0]);
    const next = await createAtOnce('few', 10);
    expect(next.opened).toHaveLength(1);
    for (const one of [opened[1], ...next.opened]) await onNode(0).post('/api/realtime/end', one);
  });

  it('count the sessions of a node that was killed', async () => {
    const { opened } = await createAtOnce('few', 2);
    expect(opened).toHaveLength(2);
    const [killed] = nodes.splice(0, 1);
    await killed?.end('SIGKILL');
    expect((await createAtOnce('few', 10)).opened).toEqual([]);
    for (const one of opened) await onNode(0).post('/api/realtime/end', one);
    expect((await createAtOnce('few', 10)).opened).toHaveLength(2);
  });

  it('end every session of the key on every node when the day is used up, and admit nobody else', async () => {
    const { opened } = await createAtOnce('slow', 6);
    expect(opened).toHaveLength(6);
    const replies = await Promise.all(
      opened.map((visitor, n) => onNode(n).post('/api/auth/usage', { ...visitor, tokens: 200, dollars: 0 })),
    );
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(1);
    for (const [n, visitor] of opened.entries())
      await vi.waitFor(async () => {
        const { body } = await onNode(n).post('/api/realtime/heartbeat', visitor);
        expect(body).toMatchObject({ code: 'SESSION_DURATION_EXCEEDED', reason: 'quota_exceeded' });
      }, soon);
    expect((await createAtOnce('slow', 4)).refused).toEqual(new Set(['DAILY_QUOTA_EXCEEDED']));
  });
});
