import { deadline } from '../kernel/deadline.ts';
import { urlRuleOf } from '../kernel/server-url.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { webhookSecrets } from '../secrets/webhook-secrets.ts';
import { Deliveries } from '../webhooks/deliveries.ts';
import type { EndpointsDeps } from '../webhooks/endpoints.ts';
import { createEndpointHost } from '../webhooks/host.ts';
import type { Core } from './core.ts';

export interface OpenWebhooks {
  /** What the changes of endpoints stand on. */
  readonly endpoints: EndpointsDeps;
  readonly deliveries: Deliveries;
  /** Sends no more, and lets go of connections. */
  close(): Promise<void>;
}

/** Webhooks of this node. Their way out is one of their own: servers that hang take nothing from tools. */
export function openWebhooks({ config, stores, secrets, journal, clock, events, onError }: Core): OpenWebhooks {
  const { webhooks } = stores;
  const outbound = createOutbound({ ...config.outbound, clock, after: deadline });
  const host = createEndpointHost(webhooks);
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
    async close() {
      await deliveries.stop();
      outbound.close();
    },
  };
}
