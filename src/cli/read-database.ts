import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { requireMigrated } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import type { Budget } from '../stores/budgets/contract.ts';
import { createPostgresBudgets } from '../stores/budgets/postgres.ts';
import { createPostgresTenantSecrets } from '../stores/tenant-secrets/postgres.ts';
import type { TenantSecret } from '../stores/tenant-secrets/contract.ts';
import { createPostgresTenants } from '../stores/tenants/postgres.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import type { WebhookEndpoint } from '../stores/webhooks/contract.ts';
import { createPostgresWebhooks } from '../stores/webhooks/postgres.ts';

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
    return {
      tenants: await createPostgresTenants(database).all(),
      secrets: await createPostgresTenantSecrets(database).list(),
      webhooks: await createPostgresWebhooks(database).list(),
      budgets: await createPostgresBudgets(database).all(),
    };
  } finally {
    await database.close();
  }
}
