import { deadline } from '../kernel/deadline.ts';
import { urlRuleOf } from '../kernel/server-url.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { webhookSecrets } from '../secrets/webhook-secrets.ts';
import { Deliveries } from '../webhooks/deliveries.ts';
import type { EndpointsDeps } from '../webhooks/endpoints.ts';
import { createEndpointHost } from '../webhooks/host.ts';
import { AlertMails } from '../webhooks/mails.ts';
import type { Core } from './core.ts';

/** Addresses that are told by mail what concerns a tenant; null is the installation. */
export type AdminsOf = (tenantId: string | null) => readonly string[];

export interface OpenWebhooks {
  /** What the changes of endpoints stand on. */
  readonly endpoints: EndpointsDeps;
  readonly deliveries: Deliveries;
  readonly mails: AlertMails;
  /** Sends no more, and lets go of connections. */
  close(): Promise<void>;
}

/** Webhooks of this node. Their way out is one of their own: servers that hang take nothing from tools. */
export function openWebhooks(core: Core, adminsOf: AdminsOf): OpenWebhooks {
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
    endpoints: { webhooks, host, secrets, outbound, urlRule, acts: journal.acts, clock },
    deliveries,
    mails,
    async close() {
      mails.stop();
      await deliveries.stop();
      mailer.close();
      outbound.close();
    },
  };
}
