import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The business events of webhooks, part of `createEvents`. Neither addresses nor bodies are logged. */
export function webhookEvents(log: Log, metrics: Metrics) {
  return {
    /** A request to an endpoint is over. @param result `delivered`, or why not @param isDead it was the last try @param delayMs since the fact */
    webhookSent(result: string, isDead: boolean, delayMs: number): void {
      metrics.webhooksSent.inc({ result });
      if (isDead) metrics.webhooksDead.inc();
      if (result === 'delivered') metrics.webhookSeconds.observe(Math.max(0, delayMs) / 1000);
    },

    /** An alert was mailed, or could not be. */
    alertMailed(result: 'sent' | 'failed' | 'dead' | 'deferred'): void {
      metrics.alertsMailed.inc({ result });
      if (result === 'dead') log.warn({ event: 'alert.unsent' });
    },

    /** An endpoint began to fail, recovered, or was disabled. @param fact of the machine webhook-endpoint */
    webhookTurned(fact: string, endpoint: string, about: { readonly reason?: string }): void {
      metrics.webhooksTurned.inc({ to: fact.replace('webhook.', '') });
      log[fact === 'webhook.healthy' ? 'info' : 'warn']({ event: fact, endpoint, ...about });
    },
  };
}
