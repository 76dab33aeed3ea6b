import type { Config } from '../../config/config.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { createDurableStores } from '../stores/durable.ts';
import type { KeyStores } from './keys.ts';

/** The stores that the key commands work on; nodes that serve learn of a change by their own reloads. */
export async function openKeyStores(config: Config): Promise<KeyStores> {
  const database = await openDatabase(config);
  await migrate(database);
  const { tenants, audit } = createDurableStores(database);
  return { tenants, audit, bus: { publish: () => undefined }, close: () => database.close() };
}
