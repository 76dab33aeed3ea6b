import postgres, { type Sql } from 'postgres';
import { startPostgres, type PostgresService } from '../../support/services/postgres.ts';
import { startRedis } from '../../support/services/redis.ts';
import { openStored } from '../../support/stored.ts';
import type { Environment } from '../../support/switchboard.ts';
import { embedded, type World } from '../../support/world.ts';

/** A PostgreSQL and a Redis that nodes share, and a connection with which a campaign sees what nodes save. */
export interface Stores {
  readonly database: PostgresService;
  readonly sql: Sql;
  readonly environment: Environment;
  stop(): Promise<unknown>;
}

/** @param settings more settings of the nodes */
export async function startStores(settings: Environment = {}): Promise<Stores> {
  const [database, redis] = await Promise.all([startPostgres(), startRedis()]);
  const sql = postgres(database.url, { max: 8, onnotice: () => undefined });
  return {
    database,
    sql,
    environment: { DATABASE_URL: database.url, REDIS_URL: redis.url, ...settings },
    async stop() {
      await sql.end({ timeout: 1 });
      await Promise.all([redis.stop(), database.stop()]);
    },
  };
}

/** Settings of nodes that share stores; of the only node, which has embedded ones, where there are none. */
export function environmentOf(stores: Stores | undefined): Environment {
  return stores?.environment ?? embedded;
}

/** Reads what was saved. A node with embedded stores is stopped before, because nobody else can read them. */
export async function readStored<T>(
  world: World,
  stores: Stores | undefined,
  read: (sql: Sql) => Promise<T>,
): Promise<T> {
  if (stores !== undefined) return read(stores.sql);
  await world.server.end('SIGTERM');
  const database = await openStored(world.environment);
  try {
    return await database.run((sql) => read(sql as unknown as Sql));
  } finally {
    await database.close();
  }
}
