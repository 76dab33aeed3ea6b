import type { Config } from '../../config/config.ts';
import { openSealers } from '../app/sealer.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { createPostgresStores } from '../stores/postgres.ts';
import type { SecretStores } from './secrets.ts';
import type { WebhookStores } from './webhooks.ts';

/** The stores for the commands on secrets and webhooks. @throws DirectoryInUse, Unavailable */
export async function openSecretStores(config: Config): Promise<SecretStores & WebhookStores> {
  const database = await openDatabase(config);
  try {
    await migrate(database);
    const { tenantSecrets, installation, journal, webhooks } = createPostgresStores(database);
    const { secrets: sealer } = await openSealers(config, installation);
    return { webhooks, secrets: tenantSecrets, acts: journal, sealer, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}
