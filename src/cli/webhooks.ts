import { parseArgs } from 'node:util';
import { readConfig, type Config } from '../../config/config.ts';
import { systemClock } from '../kernel/clock.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { SecretsDeps } from '../secrets/secrets.ts';
import { namedEndpoint, type Webhooks } from '../stores/webhooks/contract.ts';
import { gone, rotateWebhook } from '../webhooks/endpoints.ts';
import { byCommand, explainFault, need, UsageError } from './store-command.ts';
import { exitCode, type Terminal } from './terminal.ts';

export interface WebhookStores extends Omit<SecretsDeps, 'clock'> {
  readonly webhooks: Pick<Webhooks, 'find'>;
  close(): Promise<void>;
}

export interface WebhooksTerminal extends Terminal {
  /** @throws DirectoryInUse when a server runs on the embedded database; Unavailable when the database is away */
  readonly openStores: (config: Config) => Promise<WebhookStores>;
}

/** Usage and description of the command. */
export const webhookCommands = [
  {
    usage: 'webhooks secret --tenant T --id ID [--reason R]',
    meaning:
      'creates a new secret that signs the requests of a webhook, and prints it once; the previous one also signs for another 24 hours',
  },
] as const;

const USAGE = `Usage:\n${webhookCommands.map(({ usage }) => `  ${usage}`).join('\n')}\n`;

const BESIDE_SERVER =
  'While it runs, use the console (Webhooks), or POST /api/operator/webhooks/{id}/rotate.\nWith DATABASE_URL this command works beside running servers.\n';

/**
 * `webhooks secret`, with the server's environment. A webhook is named by its id, or as the tenants file names it.
 * @param args what follows `webhooks`
 * @returns 0; 1 for a refusal, 64 for wrong arguments, 69 when the database is away or in use, 78 for wrong settings
 */
export async function run(args: readonly string[], { out, err, env, openStores }: WebhooksTerminal): Promise<number> {
  try {
    const [command, ...rest] = args;
    if (command !== 'secret') throw new UsageError(`webhooks has no command "${command ?? ''}"`);
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ args: rest, options: { tenant: text, id: text, reason: text } });
    const [tenantId, id] = [need(values.tenant, '--tenant'), need(values.id, '--id')];
    const by = byCommand(values.reason);
    const stores = await openStores(readConfig(env, ['DATABASE_URL']));
    try {
      const found = (await stores.webhooks.find(namedEndpoint(tenantId, id))) ?? (await stores.webhooks.find(id));
      const deps = { secrets: { ...stores, clock: systemClock }, acts: stores.acts, clock: systemClock };
      const secret = found?.tenantId === tenantId ? await rotateWebhook(found, by, deps) : gone();
      if (secret instanceof Refusal) {
        err.write(`${secret.error}\n`);
        return exitCode.refused;
      }
      out.write(`${secret}\n`);
      return exitCode.ok;
    } finally {
      await stores.close();
    }
  } catch (error) {
    return explainFault(error, USAGE, BESIDE_SERVER, err);
  }
}
