import { parseArgs } from 'node:util';
import type { SecretsDeps } from '../tenant-secrets/secrets.ts';
import { namedEndpoint, type Webhooks } from '../stores/webhooks/contract.ts';
import { gone, rotateWebhook } from '../webhooks/endpoints.ts';
import {
  byCommand,
  need,
  runOnStores,
  text,
  UsageError,
  usageOf,
  type OpenStores,
  type StoreTerminal,
} from './store-command.ts';

export interface WebhookStores extends Omit<SecretsDeps, 'clock'>, OpenStores {
  readonly webhooks: Pick<Webhooks, 'find'>;
}

/** Usage and description of the command. */
export const webhookCommands = [
  {
    usage: 'webhooks secret --tenant T --id ID [--reason R]',
    meaning:
      'creates a new secret that signs the requests of a webhook, and prints it once; the previous one also signs for another 24 hours',
  },
] as const;

const words = {
  usage: usageOf(webhookCommands),
  besideServer:
    'While it runs, use the console (Webhooks), or POST /api/operator/webhooks/{id}/rotate.\nWith DATABASE_URL this command works beside running servers.\n',
};

/**
 * `webhooks secret`. A webhook is named by its id, or as the tenants file names it.
 * @param args what follows `webhooks`
 * @returns as `runOnStores`
 */
export function run(args: readonly string[], terminal: StoreTerminal<WebhookStores>): Promise<number> {
  return runOnStores(words, terminal, () => {
    const [command, ...rest] = args;
    if (command !== 'secret') throw new UsageError(`webhooks has no command "${command ?? ''}"`);
    const { values } = parseArgs({ args: rest, options: { tenant: text, id: text, reason: text } });
    const [tenantId, id] = [need(values.tenant, '--tenant'), need(values.id, '--id')];
    const by = byCommand(values.reason);
    return async (deps) => {
      const { webhooks, acts, clock } = deps;
      const found = (await webhooks.find(namedEndpoint(tenantId, id))) ?? (await webhooks.find(id));
      if (found?.tenantId !== tenantId) return gone();
      const secret = await rotateWebhook(found, by, { secrets: deps, acts, clock });
      return typeof secret === 'string' ? `${secret}\n` : secret;
    };
  });
}
