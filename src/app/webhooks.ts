import { deadline } from '../kernel/async.ts';
import { urlRuleOf } from '../kernel/addresses.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { webhookSecrets } from '../tenant-secrets/webhook-secrets.ts';
import { Deliveries } from '../webhooks/deliveries.ts';
import { createEndpointHost } from '../webhooks/endpoint-host.ts';
import { AlertMails } from '../webhooks/alert-mails.ts';
import type { Core } from './core.ts';

/** E-mail addresses that are told of what concerns a tenant; null is the installation. */
export type AdminsOf = (tenantId: string | null) => readonly string[];

/** Webhooks of this node. They have their own outbound connections, so that servers that hang cannot slow down tools. */
export function openWebhooks(core: Core, adminsOf: AdminsOf) {
  const { config, stores, secrets, journal, clock, events, publicUrl, onError } = core;
  const { webhooks } = stores;
  const outbound = createOutbound({ ...config.outbound, clock, after: deadline });
  const host = createEndpointHost(webhooks, adminsOf);
  const mailer = core.mailer.aside();
  const mails = new AlertMails({
    webhooks,
    counters: stores.counters,
    mailer,
    publicUrl,
    clock,
    random: Math.random,
    events,
    onError,
  });
  const deliveries = new Deliveries({
    webhooks,
    host,
    outbound,
    secretsOf: (endpoint) => webhookSecrets(endpoint, clock.now(), secrets),
    clock,
    random: Math.random,
    events,
    onError,
  });
  const urlRule = urlRuleOf(config.outbound);
  return {
    /** What changes to endpoints depend on. */
    endpoints: { webhooks, host, secrets, outbound, urlRule, acts: journal.acts, clock },
    deliveries,
    mails,
    /** Stops sending and closes its connections. */
    async close() {
      mails.stop();
      await deliveries.stop();
      mailer.close();
      outbound.close();
    },
  };
}
