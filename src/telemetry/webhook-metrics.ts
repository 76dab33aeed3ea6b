import { Counter, Histogram, type Registry } from 'prom-client';

/** The metrics of webhooks. */
export class WebhookMetrics {
  readonly sent: Counter<'result'>;
  readonly dead: Counter;
  readonly turned: Counter<'to'>;
  readonly seconds: Histogram;
  readonly mailed: Counter<'result'>;

  constructor(registers: Registry[]) {
    this.sent = new Counter({
      name: 'switchboard_webhook_requests_total',
      help: 'Requests to webhook endpoints, by what came of them',
      labelNames: ['result'],
      registers,
    });
    this.dead = new Counter({
      name: 'switchboard_webhook_deliveries_dead_total',
      help: 'Deliveries that are sent no more because all tries failed',
      registers,
    });
    this.turned = new Counter({
      name: 'switchboard_webhook_endpoints_turned_total',
      help: 'How often endpoints began to fail, came back, or were disabled',
      labelNames: ['to'],
      registers,
    });
    this.mailed = new Counter({
      name: 'switchboard_alert_mails_total',
      help: 'Mails that tell people of money and webhooks, by what came of them',
      labelNames: ['result'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'switchboard_webhook_delay_seconds',
      help: 'Time from a fact to its delivery',
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 3600, 86_400],
      registers,
    });
  }
}
