import type { Config } from '../../config/config.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { Release } from '../kernel/release.ts';
import { openRedis } from '../redis/connection.ts';
import { createRedisBus } from '../stores/bus/redis.ts';
import { createPostgresStores } from '../stores/postgres.ts';
import type { KeyStores } from './keys.ts';

/**
 * The stores that the key commands work on. Nodes are told of a change over Redis at once; without Redis, or while it is away,
 * by their next look at the database.
 */
export async function openKeyStores(config: Config): Promise<KeyStores> {
  const ignore = (): void => undefined;
  const release = new Release(ignore);
  const database = await openDatabase(config);
  release.add(() => database.close());
  try {
    await migrate(database);
    const { tenants, audit } = createPostgresStores(database);
    return { tenants, audit, bus: openBus(config, release, ignore), close: () => release.all() };
  } catch (error) {
    await release.all();
    throw error;
  }
}

function openBus(
  { redisUrls: urls, redisPrefix: prefix }: Config,
  release: Release,
  onError: () => void,
): KeyStores['bus'] {
  if (urls === undefined) return { publish: () => undefined };
  const redis = openRedis({ urls, prefix });
  release.add(() => redis.close());
  const bus = createRedisBus({ redis, onError });
  release.add(() => bus.close());
  return bus;
}
