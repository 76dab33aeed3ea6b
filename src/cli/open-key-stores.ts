import type { Config } from '../../config/config.ts';
import { openCommandBus } from '../app/stores.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { Disposables } from '../kernel/disposables.ts';
import { createPostgresStores } from '../stores/postgres.ts';
import type { ExportStores } from '../exports/rows.ts';
import type { KeyStores } from './keys.ts';
import type { StopStores } from './stop.ts';

/**
 * The stores for commands that read sessions, or change what servers serve. Nodes learn of a change at once over the bus;
 * without a bus, or while it is away, when they next read the database.
 */
export async function openKeyStores(config: Config): Promise<KeyStores & StopStores & ExportStores> {
  const ignore = (): void => undefined;
  const disposables = new Disposables(ignore);
  const database = await openDatabase(config);
  disposables.add(() => database.close());
  try {
    await migrate(database);
    const { tenants, journal, history, calls, usageReports } = createPostgresStores(database);
    const bus = await openCommandBus(config, ignore);
    disposables.add(() => bus.close());
    return { tenants, acts: journal, history, calls, usageReports, bus, close: () => disposables.dispose() };
  } catch (error) {
    await disposables.dispose();
    throw error;
  }
}
