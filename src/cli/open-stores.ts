import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { openReconciliation } from '../app/reconciliation.ts';
import { openSealers } from '../app/core.ts';
import { openCommandBus } from '../app/stores.ts';
import type { Database } from '../database/database.ts';
import { migrate, requireMigrated } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import type { ExportStores } from '../exports/rows.ts';
import { systemClock } from '../kernel/time.ts';
import { Disposables } from '../kernel/async.ts';
import { readPrices } from '../metering/prices.ts';
import type { ReconcileDeps } from '../reconciliation/reconcile.ts';
import { createPostgresStores } from '../stores/postgres.ts';
import { createEvents } from '../telemetry/events.ts';
import { createLog } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { KeyStores } from './keys.ts';
import type { SecretStores } from './secrets.ts';
import type { StopStores } from './stop.ts';
import type { OpenStores } from './store-command.ts';
import type { WebhookStores } from './webhooks.ts';
import type { Budget } from '../stores/budgets/contract.ts';
import type { TenantSecret } from '../stores/tenant-secrets/contract.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import type { WebhookEndpoint } from '../stores/webhooks/contract.ts';

const ignore = (): void => undefined;

/** What commands work on, in a database that is brought up to date first. @throws DirectoryInUse, Unavailable */
async function onDatabase<S>(config: Config, make: (database: Database) => Promise<S>): Promise<OpenStores & S> {
  const database = await openDatabase(config);
  try {
    await migrate(database);
    return { close: () => database.close(), ...(await make(database)) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * The stores for commands that read sessions, or change what servers serve. Nodes learn of a change at once over the bus;
 * without a bus, or while it is away, when they next read the database.
 */
export function openKeyStores(config: Config): Promise<KeyStores & StopStores & ExportStores> {
  return onDatabase(config, async (database) => {
    const { tenants, journal, history, calls, usageReports } = createPostgresStores(database);
    const disposables = new Disposables(ignore);
    disposables.add(() => database.close());
    const bus = await openCommandBus(config, ignore);
    disposables.add(() => bus.close());
    return { tenants, acts: journal, history, calls, usageReports, bus, close: () => disposables.dispose() };
  });
}

/** The stores for the commands on secrets and webhooks. */
export function openSecretStores(config: Config): Promise<SecretStores & WebhookStores> {
  return onDatabase(config, async (database) => {
    const { tenantSecrets, installation, journal, webhooks } = createPostgresStores(database);
    const { secrets: sealer } = await openSealers(config, installation);
    return { webhooks, secrets: tenantSecrets, acts: journal, sealer };
  });
}

/**
 * The dependencies of `reconcile`. A drift that has grown is also told to webhooks and by mail, which a running server sends. It is logged here, to
 * standard error, because the nightly comparison that follows finds that nothing has grown, and logs nothing.
 */
export function openReconciliationStores(
  config: Config,
): Promise<OpenStores & { readonly deps: ReconcileDeps | undefined }> {
  return onDatabase(config, async (database) => ({
    deps: openReconciliation({
      config,
      prices: readPrices(config.calls.pricesFile),
      store: createPostgresStores(database).reconciliations,
      clock: systemClock,
      events: createEvents(createLog(config.logLevel, false, process.stderr), new Metrics()),
    }),
  }));
}

/** What `check-config` reads from the database. */
export interface KeptInDatabase {
  /** Including keys that are in no file. */
  readonly tenants: readonly Tenant[];
  readonly secrets: readonly Pick<TenantSecret, 'tenantId' | 'name'>[];
  /** Of all tenants, also those that are in no file. */
  readonly webhooks: readonly Pick<WebhookEndpoint, 'id' | 'tenantId'>[];
  /** Likewise, and of the installation. */
  readonly budgets: readonly Pick<Budget, 'id' | 'tenantId'>[];
}

/**
 * Reads the database; undefined if there is no embedded database yet. It changes nothing, not even an old schema.
 * @throws what `openDatabase` and `requireMigrated` throw
 */
export async function readDatabase(config: Config): Promise<KeptInDatabase | undefined> {
  if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'postgres'))) return undefined;
  const database = await openDatabase(config);
  try {
    await requireMigrated(database);
    const { tenants, tenantSecrets, webhooks, budgets } = createPostgresStores(database);
    return {
      tenants: await tenants.all(),
      secrets: await tenantSecrets.list(),
      webhooks: await webhooks.list(),
      budgets: await budgets.all(),
    };
  } finally {
    await database.close();
  }
}
