import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { RequestDurations } from './request-durations.ts';
import { ifAway } from '../kernel/errors.ts';
import { Activity } from './activity.ts';
import { ToolMetrics } from './tool-metrics.ts';
import { TraceMetrics } from './trace-metrics.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

/** Statuses that are faults of the voice provider. */
const PROVIDERS: ReadonlySet<number> = new Set([502, 504]);

/** Zeros, indexed by status. */
const noReplies: readonly number[] = Array.from({ length: 600 }, () => 0);

/** Everything in /metrics. Hot paths count in plain numbers, which are read at each scrape. */
export class Metrics {
  readonly registry = new Registry();
  /** What the operator console shows over time. */
  readonly activity = new Activity();
  readonly tools = new ToolMetrics([this.registry]);
  readonly webhooks = new WebhookMetrics([this.registry]);
  readonly traces = new TraceMetrics([this.registry]);
  readonly started: Counter<'caller' | 'tenant'>;
  readonly ended: Counter<'reason'>;
  readonly refused: Counter<'code'>;
  readonly verdicts: Counter<'provider' | 'verdict'>;
  readonly challenges: Counter<'outcome'>;
  readonly mints: Histogram<'provider' | 'outcome'>;
  readonly faults: Counter<'dependency'>;
  readonly connectionsRefused: Counter;
  readonly mailRefused: Counter;
  readonly loginBudgetSpent: Counter<'scope'>;
  readonly meteredTokens: Counter<'model' | 'basis'>;
  readonly meteredMicroDollars: Counter<'model' | 'basis'>;
  readonly usageUnreadable: Counter;
  readonly usageLost: Counter;
  readonly clockSteps: Counter<'of'>;
  readonly edgeShared: Gauge;
  readonly actorEventsDropped: Counter;
  readonly sessionNotesLeftOut: Counter;
  readonly refusalsDropped: Counter;
  readonly callsOpened: Counter<'provider'>;
  readonly callsClosed: Counter<'reason'>;
  readonly hangups: Counter<'outcome'>;
  readonly hangupSeconds: Histogram;
  readonly callsTaken: Counter;
  readonly callTrouble: Counter<'provider'>;
  readonly callEventsDropped: Counter<'provider'>;
  readonly callRateLimits: Gauge<'provider' | 'name'>;
  readonly budgetUsed: Gauge<'tenant' | 'budget'>;
  readonly #replies = new Map<string, number[]>();
  readonly durations = new RequestDurations(this.#replies);

  constructor() {
    const registers = [this.registry];
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
    this.challenges = new Counter({
      name: 'switchboard_bot_challenges_total',
      help: 'Creates that had to solve a challenge, by what became of it',
      labelNames: ['outcome'],
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
    this.loginBudgetSpent = new Counter({
      name: 'switchboard_login_budget_spent_total',
      help: 'Guesses at login codes, and mails with one, that a budget had nothing left for',
      labelNames: ['scope'],
      registers,
    });
    this.meteredTokens = new Counter({
      name: 'switchboard_metered_tokens_total',
      help: 'Tokens of calls that are metered here',
      labelNames: ['model', 'basis'],
      registers,
    });
    this.meteredMicroDollars = new Counter({
      name: 'switchboard_metered_micro_dollars_total',
      help: 'What calls that are metered here were charged, in micro-dollars',
      labelNames: ['model', 'basis'],
      registers,
    });
    this.usageUnreadable = new Counter({
      name: 'switchboard_usage_unreadable_total',
      help: "Usage in a provider's events that could not be read",
      registers,
    });
    this.usageLost = new Counter({
      name: 'switchboard_usage_lost_total',
      help: 'Entries of metered usage for which there was no room while the database was away',
      registers,
    });
    this.actorEventsDropped = new Counter({
      name: 'switchboard_events_dropped_total',
      help: 'Events of actors for which there was no room, or that the database refused',
      registers,
    });
    this.sessionNotesLeftOut = new Counter({
      name: 'switchboard_session_notes_left_out_total',
      help: 'Notes of sockets, warnings, silences and usage of sessions that had 200 of them',
      registers,
    });
    this.refusalsDropped = new Counter({
      name: 'switchboard_refusals_dropped_total',
      help: 'Refusals that were told in the log and could not be kept',
      registers,
    });
    this.clockSteps = new Counter({
      name: 'switchboard_clock_steps_total',
      help: "Steps of a store's clock that were not followed, and times that this node stood still and its time was set",
      labelNames: ['of'],
      registers,
    });
    this.edgeShared = new Gauge({
      name: 'switchboard_edge_windows_shared',
      help: '1 while edge limits are counted over all nodes, 0 while each process counts for itself',
      registers,
    });
    this.edgeShared.set(1);
    this.callsOpened = new Counter({
      name: 'switchboard_calls_opened_total',
      help: 'Calls opened at the provider',
      labelNames: ['provider'],
      registers,
    });
    this.callsClosed = new Counter({
      name: 'switchboard_calls_closed_total',
      help: 'Calls closed, by reason',
      labelNames: ['reason'],
      registers,
    });
    this.hangups = new Counter({
      name: 'switchboard_call_hangups_total',
      help: 'Calls closed, by what the provider said of the hang-up; unconfirmed ones it may bill on',
      labelNames: ['outcome'],
      registers,
    });
    this.hangupSeconds = new Histogram({
      name: 'switchboard_call_hangup_seconds',
      help: 'Time from the end of a call to the confirmation of its hang-up',
      buckets: [0.25, 0.5, 1, 1.5, 2, 4, 8, 16, 60, 300],
      registers,
    });
    this.callsTaken = new Counter({
      name: 'switchboard_calls_taken_total',
      help: 'Calls taken over from nodes that stopped',
      registers,
    });
    this.callTrouble = new Counter({
      name: 'switchboard_call_trouble_total',
      help: 'Errors that providers told of in calls that went on',
      labelNames: ['provider'],
      registers,
    });
    this.callEventsDropped = new Counter({
      name: 'switchboard_call_events_dropped_total',
      help: 'Reports of usage that could not be, and were dropped',
      labelNames: ['provider'],
      registers,
    });
    this.callRateLimits = new Gauge({
      name: 'switchboard_call_rate_limit_remaining',
      help: 'What is left of the provider limits, as told last',
      labelNames: ['provider', 'name'],
      registers,
    });
    this.budgetUsed = new Gauge({
      name: 'switchboard_budget_used_ratio',
      help: 'Share that is used of a budget of something that is one, 1 where nothing is left, as each process looked last',
      labelNames: ['tenant', 'budget'],
      registers,
    });
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
    this.registry.registerMetric(this.durations);
  }

  /** Adds prom-client's metrics of the process. At most once per process: its timers run until the process ends. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** The running version, as labels of a gauge that is always 1. */
  tellBuild(version: string): void {
    const build = new Gauge({
      name: 'switchboard_build_info',
      help: 'The version that runs here',
      labelNames: ['version', 'node'],
      registers: [this.registry],
    });
    build.set({ version, node: process.versions.node }, 1);
  }

  /** A gauge whose value is read at each scrape. It is left out while it cannot be read, because in an outage the others are needed. */
  observe(name: string, help: string, read: () => number | Promise<number>): void {
    this.observeEach(name, help, [], async () => [{ labels: {}, value: await read() }]);
  }

  /** Like `observe`, with a value for each set of labels. */
  observeEach<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => Promise<readonly { readonly labels: Readonly<Partial<Record<L, string>>>; readonly value: number }[]>,
  ): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [],
      async collect() {
        const found = await read().catch(ifAway(() => []));
        // Without labels a reset would leave a zero.
        if (labelNames.length === 0) this.remove();
        else this.reset();
        for (const { labels, value } of found) this.set(labels, value);
      },
    });
    this.registry.registerMetric(gauge);
  }

  /** The replies of the API, and how many of them were faults of ours and not the provider's. */
  replies(): { readonly all: number; readonly failed: number } {
    let [all, failed] = [0, 0];
    for (const [route, byStatus] of this.#replies) {
      if (!route.startsWith('/api/')) continue;
      for (let status = 0; status < byStatus.length; status += 1) {
        const count = byStatus[status] ?? 0;
        all += count;
        if (status >= 500 && !PROVIDERS.has(status)) failed += count;
      }
    }
    return { all, failed };
  }

  /** The replies of one route by status, for its caller to increment. */
  repliesOf(route: string): number[] {
    const byStatus = noReplies.slice();
    this.#replies.set(route, byStatus);
    return byStatus;
  }
}
