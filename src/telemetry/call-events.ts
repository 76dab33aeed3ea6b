import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { refOf } from '../kernel/ids.ts';
import { clip } from '../kernel/text.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Writes a line of a kind that may come in floods, unless the budget is spent; the line says how many were left out before it. */
export type Within = (kind: string, write: (about: { readonly leftOut?: number }) => void) => void;

/** Tools that get a label of their own: tenants may define any number of them. */
const MAX_LABELS = 100;
const MAX_MODEL_LENGTH = 256;

/** The business events of calls, their tools and their meter, part of `createEvents`. Neither arguments nor answers of tools are logged. */
export function callEvents(log: Log, metrics: Metrics, within: Within) {
  const labels = new Set<string>();
  return {
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

    /** A server tool was called. @param code why it gave no answer, otherwise `answered` */
    toolCalled(tool: string, code: string, tookMs: number): void {
      if (labels.size < MAX_LABELS) labels.add(tool);
      metrics.toolCalls.inc({ tool: labels.has(tool) ? tool : 'other', code });
      metrics.toolCallSeconds.observe({ code }, tookMs / 1000);
    },

    /** A page answered in place of a server tool, or removed its answer. */
    toolForged(call: string): void {
      metrics.toolAnswersForged.inc();
      within('tool forged', (left) => log.warn({ event: 'tool.forged', call, ...left }));
    },

    /** A header of a tool names a secret that its tenant does not have. */
    toolSecretMissing(tenantId: string, tool: string, secret: string): void {
      within('tool secret', (left) =>
        log.warn({ event: 'tool.secret_missing', tenantId, tool, missing: secret, ...left }),
      );
    },

    /** @param basis how the usage is known, or that it is estimated */
    usageMetered(model: string, basis: string, tokens: number, microDollars: number): void {
      metrics.meteredTokens.inc({ model, basis }, tokens);
      metrics.meteredMicroDollars.inc({ model, basis }, microDollars);
    },

    usageUnreadable(call: string): void {
      metrics.usageUnreadable.inc();
      within('usage unreadable', (left) => log.warn({ event: 'usage.unreadable', call, ...left }));
    },

    /** Usage that is not counted anywhere. */
    usageLost(call: string): void {
      metrics.usageLost.inc();
      within('usage lost', (left) => log.error({ event: 'usage.lost', call, ...left }));
    },

    /** A model is priced at the highest rates, because no list has it. */
    modelUnpriced(model: string): void {
      within('model unpriced', (left) =>
        log.warn({ event: 'model.unpriced', model: clip(model, MAX_MODEL_LENGTH), ...left }),
      );
    },

    /** Our count of a day differs from the provider's, and nothing explains it (docs/operations.md, Reconciliation). */
    meterDrifted(told: {
      readonly day: string;
      readonly upstream: string;
      readonly unexplainedMicroDollars: number;
    }): void {
      const { day, upstream, unexplainedMicroDollars } = told;
      log.warn({ event: 'meter.drift', day, upstream, unexplainedDollars: unexplainedMicroDollars / 1_000_000 });
    },
  };
}

/** The call and its session and tenant, without the provider's id of the call. */
function about({ id, sessionId, tenantId }: CallRecord): object {
  return { call: id, session: refOf(sessionId), tenantId };
}
