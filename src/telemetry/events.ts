import type { VoiceFact, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { ClockStep } from '../kernel/time.ts';
import { clip } from '../kernel/text.ts';
import { Unavailable, type Dependency } from '../kernel/errors.ts';
import { refOf } from '../kernel/ids.ts';
import { PerSecondLimit, withoutAddresses, type Log } from './log.ts';
import type { Whose } from './activity.ts';
import { callEvents, type Within } from './call-events.ts';
import type { Metrics } from './metrics.ts';

/** A machine's state, plain or nested, as XState writes it. */
type StateTold = string | { readonly [state: string]: StateTold | undefined };

interface TransitionTold {
  readonly machine: string;
  readonly record: { readonly id: string };
  readonly event: string;
  readonly from: StateTold | undefined;
  readonly to: StateTold;
}

/** The parts of a request that may be logged. */
interface RequestTold {
  readonly requestId: string;
  readonly method: string;
}

interface VerdictNotice {
  readonly provider: string;
  readonly isBot: boolean;
  readonly isVerifiedBot: boolean;
  readonly confidence: number;
  readonly degraded?: boolean | undefined;
  readonly reason?: string | undefined;
  /** The outcome of the challenge; undefined where none was due. */
  readonly outcome?: 'due' | 'solved' | 'wrong' | 'away' | 'misconfigured' | undefined;
}

/**
 * One function per business event, which logs and counts it; no other code does. Secrets, codes, tokens and addresses are never logged.
 * What a stranger or an outage can repeat at will is always counted but logged within a budget; `leftOut` is the number of lines left out.
 */
export type Events = ReturnType<typeof createEvents>;

/** Refusals repeat what was sent (an origin, a path, a method), which may be many kilobytes long. */
const MAX_ERROR_LENGTH = 300;

/** @param now milliseconds of a monotonic clock */
export function createEvents(log: Log, metrics: Metrics, now: () => number = () => performance.now()) {
  // Writing is synchronous: a flood of lines would slow the process down more than the requests do. Metrics count what is not logged.
  const budget = new PerSecondLimit();
  let isCollectorAway = false;

  const within: Within = (kind, write) => {
    const leftOut = budget.spend(kind, now());
    if (leftOut !== undefined) write(leftOut === 0 ? {} : { leftOut });
  };

  function dependencyAway(dependency: Dependency, error: unknown, requestId?: string, where?: string): void {
    metrics.faults.inc({ dependency });
    metrics.activity.noteAway(dependency);
    within(`away ${dependency}`, (about) =>
      log.warn({ event: 'dependency.away', dependency, where, requestId, err: error, ...about }),
    );
  }

  /** Logs a request without its path and its query, which may contain anything. */
  function requestAnswered(
    request: RequestTold,
    route: string,
    status: number,
    tookMs: number,
    refusal?: string,
  ): void {
    const { requestId, method } = request;
    log.debug({ event: 'request.answered', requestId, method, route, status, tookMs: round(tookMs), refusal });
  }

  /** Logs a saved event of an actor, if it changed the machine's state. */
  function transition({ machine, record, event, from, to }: TransitionTold): void {
    const [before, after] = [stateName(from), stateName(to)];
    if (before !== after)
      log.debug({ event: 'machine.moved', machine, ref: refOf(record.id), by: event, from: before, to: after });
  }

  return {
    ...callEvents(log, metrics, within),
    dependencyAway,
    // Undefined at other log levels, so that nothing is measured, compared or written for them.
    requestAnswered: log.isLevelEnabled('debug') ? requestAnswered : undefined,
    transition: log.isLevelEnabled('debug') ? transition : undefined,

    sessionOpened(record: VoiceRecord, requestId: string): void {
      metrics.started.inc({ caller: record.caller, tenant: record.tenantId });
      metrics.activity.count('started', record.caller, record);
      const { caller, tenantId, agentId, keyId, provider } = record;
      log.info({
        event: 'session.opened',
        session: refOf(record.id),
        caller,
        tenantId,
        agentId,
        keyId,
        provider,
        requestId,
      });
    },

    sessionMoved(record: VoiceRecord, fact: VoiceFact): void {
      if (fact.type === 'session.ended') {
        metrics.ended.inc({ reason: fact.reason });
        metrics.activity.count('ended', fact.reason, record);
      }
      log.info({
        event: fact.type,
        session: refOf(record.id),
        tenantId: record.tenantId,
        reason: record.endReason ?? undefined,
      });
    },

    /** Logs and counts each verdict, and reports a challenge provider that is away or rejects the settings. */
    botJudged(notice: VerdictNotice, requestId: string, whose: Whose): void {
      const { provider, isBot, isVerifiedBot, confidence, degraded, reason, outcome: challenge } = notice;
      const verdict = isBot ? (isVerifiedBot ? 'verified_bot' : 'bot') : 'human';
      metrics.verdicts.inc({ provider, verdict });
      if (challenge !== undefined) {
        metrics.challenges.inc({ outcome: challenge });
        metrics.activity.count('challenged', challenge, whose);
      }
      const judged = { provider, isBot, isVerifiedBot, confidence, degraded, reason, challenge };
      log.info({ event: 'bot.judged', requestId, verdict, ...judged });
      if (challenge === 'away') dependencyAway('bots', new Error(reason), requestId);
      if (challenge === 'misconfigured')
        within('bot provider', (about) => log.error({ event: 'bot.misconfigured', requestId, reason, ...about }));
    },

    refused(code: string, route: string, requestId: string | undefined, error: string, whose: Whose = {}): void {
      metrics.refused.inc({ code });
      metrics.activity.count('refused', code, whose);
      within(code, (about) => {
        const why = withoutAddresses(clip(error, MAX_ERROR_LENGTH));
        log.info({ event: 'request.refused', refusal: code, route, requestId, error: why, ...about });
      });
    },

    loggedIn(loginId: string, requestId: string): void {
      log.info({ event: 'login.opened', loginId, requestId });
    },

    /** An operator is about to change something, or searches for an address. */
    operatorActed(actor: string, action: string, target: string, requestId: string | null): void {
      log.warn({ event: 'operator.acted', actor, action, target, requestId });
    },

    /** Logs what was thrown; a dependency that is away is not a fault of ours. */
    faulted(error: unknown, requestId: string | undefined, where: string): void {
      if (error instanceof Unavailable) dependencyAway(error.dependency, error, requestId, where);
      else log.error({ event: 'fault', where, requestId, err: error });
    },

    /** A connection was closed at once, because `open` connections exist already. */
    connectionRefused(open: number): void {
      metrics.connectionsRefused.inc();
      within('connection refused', (about) => log.warn({ event: 'connection.refused', open, ...about }));
    },

    /** A store's clock was changed, and is not followed; or this node stood still, and its time was adjusted. */
    clockStepped({ of, ms }: ClockStep): void {
      metrics.clockSteps.inc({ of });
      within(`clock ${of}`, (about) => log.warn({ event: 'clock.stepped', of, ms: Math.round(ms), ...about }));
    },

    /** Edge limits are counted in this process from now on, because the shared store is away; `reason` says why. */
    edgeLocal(reason: unknown): void {
      metrics.edgeShared.set(0);
      dependencyAway('registry', reason, undefined, 'edge limits');
    },

    /** Edge limits are counted across all nodes again. */
    edgeShared(): void {
      metrics.edgeShared.set(1);
      within('edge shared', (about) => log.info({ event: 'edge.shared', ...about }));
    },

    /** The mail server refuses mail for one recipient, who was told that it is on its way. */
    mailRefused(error: Unavailable): void {
      metrics.mailRefused.inc();
      within('mail refused', (about) => log.warn({ event: 'mail.refused', err: error.cause, ...about }));
    },

    /** A guess was not evaluated, or a mail not sent, because a login budget is used up. */
    loginBudgetSpent(scope: string, domain: string): void {
      metrics.loginBudgetSpent.inc({ scope });
      within(`login budget ${scope}`, (about) => log.warn({ event: 'login.budget_spent', scope, domain, ...about }));
    },

    // Of webhooks neither addresses nor bodies are logged, of traces neither headers nor the content of spans.

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

    /**
     * The collector did not accept a batch of spans; logged once until it accepts one.
     * @param why a system error code or a status, never the collector's text
     */
    collectorAway(why: string): void {
      metrics.faults.inc({ dependency: 'collector' });
      metrics.activity.noteAway('collector');
      if (!isCollectorAway) log.warn({ event: 'collector.away', why });
      isCollectorAway = true;
    },

    collectorAnswered(): void {
      if (isCollectorAway) log.info({ event: 'collector.back' });
      isCollectorAway = false;
    },

    spansSent(count: number): void {
      metrics.spansSent.inc(count);
    },

    spansDropped(count: number): void {
      metrics.spansDropped.inc(count);
    },

    warned(message: string, about: Record<string, unknown> = {}): void {
      log.warn({ event: 'warning', ...about }, message);
    },
  };
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Nested states are joined with dots; `none` is before the first. */
function stateName(state: StateTold | undefined): string {
  if (typeof state !== 'object') return state ?? 'none';
  return Object.entries(state)
    .map(([name, inner]) => `${name}.${stateName(inner)}`)
    .join(' ');
}
