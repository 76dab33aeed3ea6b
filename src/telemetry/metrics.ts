import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { RequestDurations, Activity } from './activity.ts';
import { ifAway } from '../kernel/errors.ts';

/** Statuses that are faults of the voice provider. */
const PROVIDERS: ReadonlySet<number> = new Set([502, 504]);

/** Zeros, indexed by status. */
const noReplies: readonly number[] = Array.from({ length: 600 }, () => 0);

/** Everything in /metrics, in the order in which it is shown. Hot paths count in plain numbers, which are read at each scrape. */
export class Metrics {
  readonly registry = new Registry();
  /** What the operator console shows over time. */
  readonly activity = new Activity();
  readonly toolCalls = this.#counter(
    'switchboard_tool_calls_total',
    'Calls of tools of the server, by how they ended; beyond 100 tools the tool is "other"',
    ['tool', 'code'],
  );
  readonly toolAnswersForged = this.#counter(
    'switchboard_tool_answers_forged_total',
    'Answers to tools of the server that a page gave or took out',
  );
  readonly toolCallSeconds = this.#histogram(
    'switchboard_tool_call_seconds',
    'Time from the asking for a tool of the server to its end',
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32],
    ['code'],
  );
  readonly webhooksSent = this.#counter(
    'switchboard_webhook_requests_total',
    'Requests to webhook endpoints, by what came of them',
    ['result'],
  );
  readonly webhooksDead = this.#counter(
    'switchboard_webhook_deliveries_dead_total',
    'Deliveries that are sent no more because all tries failed',
  );
  readonly webhooksTurned = this.#counter(
    'switchboard_webhook_endpoints_turned_total',
    'How often endpoints began to fail, came back, or were disabled',
    ['to'],
  );
  readonly alertsMailed = this.#counter(
    'switchboard_alert_mails_total',
    'Mails that tell people of money and webhooks, by what came of them',
    ['result'],
  );
  readonly webhookSeconds = this.#histogram(
    'switchboard_webhook_delay_seconds',
    'Time from a fact to its delivery',
    [0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 3600, 86_400],
  );
  readonly spansSent = this.#counter('switchboard_trace_spans_sent_total', 'Spans that the collector took');
  readonly spansDropped = this.#counter(
    'switchboard_trace_spans_dropped_total',
    'Spans for which there was no room, or that the collector refused',
  );
  readonly started = this.#counter('switchboard_sessions_started_total', 'Voice sessions opened', ['caller', 'tenant']);
  readonly ended = this.#counter('switchboard_sessions_ended_total', 'Voice sessions ended, by reason', ['reason']);
  readonly refused = this.#counter('switchboard_refusals_total', 'Requests refused, by code', ['code']);
  readonly verdicts = this.#counter('switchboard_bot_verdicts_total', 'Bot verdicts', ['provider', 'verdict']);
  readonly challenges = this.#counter(
    'switchboard_bot_challenges_total',
    'Creates that had to solve a challenge, by what became of it',
    ['outcome'],
  );
  readonly mints = this.#histogram(
    'switchboard_mint_seconds',
    'Time to mint a client secret',
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8],
    ['provider', 'outcome'],
  );
  readonly faults = this.#counter(
    'switchboard_dependency_faults_total',
    'Times that a dependency was away when it was needed',
    ['dependency'],
  );
  readonly connectionsRefused = this.#counter(
    'switchboard_connections_refused_total',
    'Connections closed at once because this process held MAX_CONNECTIONS',
  );
  readonly mailRefused = this.#counter(
    'switchboard_mail_refused_total',
    'Login codes whose recipient the mail server refused',
  );
  readonly loginBudgetSpent = this.#counter(
    'switchboard_login_budget_spent_total',
    'Guesses at login codes, and mails with one, that a budget had nothing left for',
    ['scope'],
  );
  readonly meteredTokens = this.#counter('switchboard_metered_tokens_total', 'Tokens of calls that are metered here', [
    'model',
    'basis',
  ]);
  readonly meteredMicroDollars = this.#counter(
    'switchboard_metered_micro_dollars_total',
    'What calls that are metered here were charged, in micro-dollars',
    ['model', 'basis'],
  );
  readonly usageUnreadable = this.#counter(
    'switchboard_usage_unreadable_total',
    "Usage in a provider's events that could not be read",
  );
  readonly usageLost = this.#counter(
    'switchboard_usage_lost_total',
    'Entries of metered usage for which there was no room while the database was away',
  );
  readonly actorEventsDropped = this.#counter(
    'switchboard_events_dropped_total',
    'Events of actors for which there was no room, or that the database refused',
  );
  readonly sessionNotesLeftOut = this.#counter(
    'switchboard_session_notes_left_out_total',
    'Notes of sockets, warnings, silences and usage of sessions that had 200 of them',
  );
  readonly refusalsDropped = this.#counter(
    'switchboard_refusals_dropped_total',
    'Refusals that were told in the log and could not be kept',
  );
  readonly clockSteps = this.#counter(
    'switchboard_clock_steps_total',
    "Steps of a store's clock that were not followed, and times that this node stood still and its time was set",
    ['of'],
  );
  readonly edgeShared = this.#gauge(
    'switchboard_edge_windows_shared',
    '1 while edge limits are counted over all nodes, 0 while each process counts for itself',
  );
  readonly callsOpened = this.#counter('switchboard_calls_opened_total', 'Calls opened at the provider', ['provider']);
  readonly callsClosed = this.#counter('switchboard_calls_closed_total', 'Calls closed, by reason', ['reason']);
  readonly hangups = this.#counter(
    'switchboard_call_hangups_total',
    'Calls closed, by what the provider said of the hang-up; unconfirmed ones it may bill on',
    ['outcome'],
  );
  readonly hangupSeconds = this.#histogram(
    'switchboard_call_hangup_seconds',
    'Time from the end of a call to the confirmation of its hang-up',
    [0.25, 0.5, 1, 1.5, 2, 4, 8, 16, 60, 300],
  );
  readonly callsTaken = this.#counter('switchboard_calls_taken_total', 'Calls taken over from nodes that stopped');
  readonly callTrouble = this.#counter(
    'switchboard_call_trouble_total',
    'Errors that providers told of in calls that went on',
    ['provider'],
  );
  readonly callEventsDropped = this.#counter(
    'switchboard_call_events_dropped_total',
    'Reports of usage that could not be, and were dropped',
    ['provider'],
  );
  readonly callRateLimits = this.#gauge(
    'switchboard_call_rate_limit_remaining',
    'What is left of the provider limits, as told last',
    ['provider', 'name'],
  );
  readonly budgetUsed = this.#gauge(
    'switchboard_budget_used_ratio',
    'Share that is used of a budget of something that is one, 1 where nothing is left, as each process looked last',
    ['tenant', 'budget'],
  );
  readonly #replies = new Map<string, number[]>();
  readonly durations = new RequestDurations(this.#replies);

  constructor() {
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
    this.registry.registerMetric(this.durations);
  }

  #counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  /** Adds prom-client's metrics of the process. At most once per process: its timers run until the process ends. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** The running version, as labels of a gauge that is always 1. */
  tellBuild(version: string): void {
    const build = this.#gauge('switchboard_build_info', 'The version that runs here', ['version', 'node']);
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
