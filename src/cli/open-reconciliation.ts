import type { Config } from '../../config/config.ts';
import { openReconciliation } from '../app/reconciliation.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { systemClock } from '../kernel/clock.ts';
import { readPrices } from '../metering/prices.ts';
import type { ReconcileDeps } from '../reconciliation/reconcile.ts';
import { createPostgresReconciliations } from '../stores/reconciliations/postgres.ts';

interface Opened {
  readonly deps: ReconcileDeps | undefined;
  close(): Promise<void>;
}

/** The dependencies of `reconcile`. A drift that has grown is also told to webhooks and by mail, which a running server sends. @throws DirectoryInUse, Unavailable */
export async function openReconciliationStores(config: Config): Promise<Opened> {
  const database = await openDatabase(config);
  try {
    await migrate(database);
    const nothing = (): void => undefined;
    const deps = openReconciliation({
      config,
      prices: readPrices(config.calls.pricesFile),
      store: createPostgresReconciliations(database),
      clock: systemClock,
      events: { meterDrifted: nothing, dependencyAway: nothing },
    });
    return { deps, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}
