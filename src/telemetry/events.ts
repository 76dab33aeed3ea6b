import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceFact, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { ClockStep } from '../kernel/clock.ts';
import { clip } from '../kernel/text.ts';
import { Unavailable, type Dependency } from '../kernel/errors.ts';
import { refOf } from '../kernel/ids.ts';
import { SecondBudget } from '../kernel/second-budget.ts';
import type { Whose } from './activity.ts';
import { botEvent } from './bot-event.ts';
import { withoutAddresses, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { meterEvents } from './meter-events.ts';
import { traceEvents } from './trace-events.ts';
import { toolEvents } from './tool-events.ts';
import { webhookEvents } from './webhook-events.ts';

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
  const budget = new SecondBudget();

  /** Writes a line of a kind that may come in floods, unless the budget is spent; the line says how many were left out before it. */
  function within(kind: string, write: (about: { readonly leftOut?: number }) => void): void {
    const leftOut = budget.spend(kind, now());
    if (leftOut !== undefined) write(leftOut === 0 ? {} : { leftOut });
  }

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
    const [before, after] = [nameOf(from), nameOf(to)];
    if (before !== after)
      log.debug({ event: 'machine.moved', machine, ref: refOf(record.id), by: event, from: before, to: after });
  }

  return {
    ...meterEvents(log, metrics, within),
    ...toolEvents(log, metrics, within),
    botJudged: botEvent(log, metrics, within, dependencyAway),
    ...webhookEvents(log, metrics),
    ...traceEvents(log, metrics),
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

    /** The page of a session got the answer to its offer. Neither ticket nor SDP is logged. */
    callAnswered({ id, tenantId }: VoiceRecord, call: string, requestId: string): void {
      log.info({ event: 'call.answered', session: refOf(id), call, tenantId, requestId });
    },

    callOpened(record: CallRecord): void {
      const { provider, model, createdAtMs, openedAtMs } = record;
      metrics.callsOpened.inc({ provider });
      log.info({ event: 'call.opened', ...about(record), provider, model, setupMs: (openedAtMs ?? 0) - createdAtMs });
    },

    callClosed(record: CallRecord): void {
      const { closeReason, hangup, hangupTries } = record;
      metrics.callsClosed.inc({ reason: closeReason ?? 'lost' });
      metrics.hangups.inc({ outcome: hangup });
      const line = { event: 'call.closed', ...about(record), reason: closeReason, hangup, hangupTries };
      // An operator should check whether the provider still bills it.
      if (hangup === 'unconfirmed') log.warn(line);
      else log.info(line);
    },

    /** A hang-up was confirmed. @param tookMs time since the call began to close */
    hangupConfirmed(tookMs: number): void {
      metrics.hangupSeconds.observe(tookMs / 1000);
    },

    /** This node took over a call from a dead node. */
    callTaken(record: CallRecord): void {
      metrics.callsTaken.inc();
      log.info({ event: 'call.taken', ...about(record), state: record.state });
    },

    /** A call was taken over for which nobody here has the credential: it may continue, and be billed. */
    callForeign(record: CallRecord): void {
      const { provider, fingerprint } = record;
      log.warn({ event: 'call.foreign', ...about(record), provider, fingerprint, state: record.state });
    },

    /** A provider was asked for a secret that opens a call. */
    minted(provider: string, outcome: string, seconds: number): void {
      metrics.mints.observe({ provider, outcome }, seconds);
      metrics.activity.countMint(provider, outcome, seconds);
    },

    /** A provider was asked to open a call. */
    callAsked(provider: string, outcome: string, seconds: number): void {
      metrics.activity.countMint(provider, outcome, seconds);
    },

    /** A provider reported an error in a call that continues. @param code the provider's */
    callTrouble(record: CallRecord, code: string): void {
      metrics.callTrouble.inc({ provider: record.provider });
      within('call trouble', (left) => log.info({ event: 'call.trouble', ...about(record), trouble: code, ...left }));
    },

    /** A provider reported impossible usage, which was dropped. */
    callEventDropped(provider: string): void {
      metrics.callEventsDropped.inc({ provider });
    },

    callRateLimit(provider: string, name: string, remaining: number): void {
      metrics.callRateLimits.set({ provider, name }, remaining);
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

    warned(message: string, about: Record<string, unknown> = {}): void {
      log.warn({ event: 'warning', ...about }, message);
    },
  };
}

/** The call and its session and tenant, without the provider's id of the call. */
function about({ id, sessionId, tenantId }: CallRecord): object {
  return { call: id, session: refOf(sessionId), tenantId };
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Nested states are joined with dots; `none` is before the first. */
function nameOf(state: StateTold | undefined): string {
  if (typeof state !== 'object') return state ?? 'none';
  return Object.entries(state)
    .map(([name, inner]) => `${name}.${nameOf(inner)}`)
    .join(' ');
}
