import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { Unavailable } from '../kernel/errors.ts';

/** Everything that /metrics tells. Hot paths count in plain numbers that are read when somebody scrapes. */
export class Metrics {
  readonly registry = new Registry();
  readonly started: Counter<'caller' | 'tenant'>;
  readonly ended: Counter<'reason'>;
  readonly refused: Counter<'code'>;
  readonly verdicts: Counter<'provider' | 'verdict'>;
  readonly mints: Histogram<'provider' | 'outcome'>;
  readonly faults: Counter<'dependency'>;
  readonly connectionsRefused: Counter;
  readonly mailRefused: Counter;
  readonly edgeShared: Gauge;
  readonly #replies = new Map<string, number[]>();

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.started = new Counter({
      name: 'switchboard_sessions_started_total',
      help: 'Voice sessions opened',
      labelNames: ['caller', 'tenant'],
      registers,
    });
    this.ended = new Counter({
      name: 'switchboard_sessions_ended_total',
      help: 'Voice sessions ended, by reason',
      labelNames: ['reason'],
      registers,
    });
    this.refused = new Counter({
      name: 'switchboard_refusals_total',
      help: 'Requests refused, by code',
      labelNames: ['code'],
      registers,
    });
    this.verdicts = new Counter({
      name: 'switchboard_bot_verdicts_total',
      help: 'Bot verdicts',
      labelNames: ['provider', 'verdict'],
      registers,
    });
    this.mints = new Histogram({
      name: 'switchboard_mint_seconds',
      help: 'Time to mint a client secret',
      labelNames: ['provider', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8],
      registers,
    });
    this.faults = new Counter({
      name: 'switchboard_dependency_faults_total',
      help: 'Times that a dependency was away when it was needed',
      labelNames: ['dependency'],
      registers,
    });
    this.connectionsRefused = new Counter({
      name: 'switchboard_connections_refused_total',
      help: 'Connections closed at once because this process held MAX_CONNECTIONS',
      registers,
    });
    this.mailRefused = new Counter({
      name: 'switchboard_mail_refused_total',
      help: 'Login codes whose recipient the mail server refused',
      registers,
    });
    this.edgeShared = new Gauge({
      name: 'switchboard_edge_windows_shared',
      help: '1 while edge limits are counted over all nodes, 0 while each process counts for itself',
      registers,
    });
    this.edgeShared.set(1);
    const replies = this.#replies;
    const told = new Counter({
      name: 'switchboard_http_replies_total',
      help: 'HTTP replies by route and status',
      labelNames: ['route', 'status'],
      registers: [],
      collect() {
        this.reset();
        for (const [route, byStatus] of replies)
          for (const [status, count] of byStatus.entries())
            if (count !== undefined && count > 0) this.inc({ route, status }, count);
      },
    });
    this.registry.registerMetric(told);
  }

  /** A gauge whose value is read when somebody scrapes; it is left out while it cannot be read, because an outage is when the others are needed. */
  observe(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        try {
          this.set(await read());
        } catch (error) {
          if (!(error instanceof Unavailable)) throw error;
          this.remove();
        }
      },
    });
    this.registry.registerMetric(gauge);
  }

  /** Counts the replies of one route: call the result with each status. */
  replyCounter(route: string): (status: number) => void {
    const byStatus: number[] = Array.from({ length: 600 }, () => 0);
    this.#replies.set(route, byStatus);
    return (status) => {
      byStatus[status] = (byStatus[status] ?? 0) + 1;
    };
  }
}
