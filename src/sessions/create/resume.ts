import { idleSec, longestEndMs } from '../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { CallTicket } from '../../stores/call-tickets/contract.ts';
import { requireEngaged } from '../require-engaged.ts';
import { everySession } from '../sessions.ts';
import type { AdmittedCaller, CallerFound, CreateDeps, CreateStep, SessionFound } from './step.ts';

/** `ofSession` includes calls that are over, as a page resumes after its call has been left. */
type FindDeps = Pick<CreateDeps, 'calls' | 'sessions' | 'stores' | 'config'>;

/**
 * Finds the session that a page continues: the token's session, if it has the same caller, is still engaged, and its page was there a moment ago.
 * Spends nothing and reveals nothing: unknown, spent, expired and foreign tokens all get the same refusal.
 */
export const findResumed: CreateStep = {
  name: 'resume',
  async take(context: CallerFound, deps: FindDeps) {
    const { calls, sessions, stores, config } = deps;
    const { body, request } = context.input;
    const sessionId = await calls.resumeTokens.find(body.resume ?? '', request.atMs);
    if (sessionId === undefined) return refused('nobody has this token: it was used, or replaced by a newer one');
    const [record, setup, opened] = await Promise.all([
      sessions.find(sessionId),
      stores.sessionSetups.find(sessionId),
      calls.ofSession(sessionId),
    ]);
    if (record === undefined || setup === undefined) return refused('its session was never open');
    if (!isSameCaller(record, context.caller)) return refused('the session is of another key or user');
    const over = requireEngaged(record, request.atMs, sessions.limits);
    if (over !== undefined) return refused(`the session was over (${over.additions.reason})`);
    if (request.atMs > calls.resumeTokens.worksUntilMs(record)) return refused('its page was away for too long');
    const { perSession } = config.calls;
    if (opened.length >= perSession)
      return refused('the session has had its calls', {
        limit: perSession,
        count: opened.length,
        unit: 'calls',
        lever: 'CALLS_PER_SESSION',
      });
    context.record = record;
    context.resumed = setup;
    return undefined;
  },
};

function isSameCaller(
  { caller, tenantId, keyId, subject }: VoiceRecord,
  by: Pick<AdmittedCaller, 'caller' | 'tenantId' | 'keyId' | 'subject'>,
): boolean {
  return caller === by.caller && tenantId === by.tenantId && keyId === by.keyId && subject === by.subject;
}

function refused(fact: string, more: Refusal['why'] = {}): Refusal {
  const error = 'This conversation cannot be continued: its token is unknown, used or too old, or the session is over.';
  return new Refusal('RESUME_REFUSED', error, {}, { fact, ...more });
}

/** Before the token is spent, because without one the session may end at once: it now waits for the call of this page. */
export const awaitCall: CreateStep = {
  name: 'next call',
  async take({ record, input }: SessionFound, { calls }: Pick<CreateDeps, 'calls'>) {
    await calls.awaitNext(record.id, input.request.atMs);
  },
};

/** Exchanges the token for a ticket, in one step of the store: of two pages that come at once, one continues the session. */
export const spendResumeToken: CreateStep<CallTicket> = {
  name: 'token',
  async take(context: SessionFound, { calls }: Pick<CreateDeps, 'calls'>) {
    const { record, input } = context;
    const { ticket, kept } = calls.tickets.make(record.id, input.request.atMs);
    if (!(await calls.resumeTokens.spend(input.body.resume ?? '', kept, input.request.atMs)))
      return refused('another page used the token at the same moment');
    context.minted = { sessionId: record.upstreamId, ...ticket };
    return kept;
  },
  undo: (kept, { input, record }: SessionFound, { calls, sessions }) =>
    calls.resumeTokens.giveBack(input.body.resume ?? '', kept, longestEndMs(record, sessions.limits)),
};

/**
 * The page that resumes shows that the visitor is there, but not that anybody spoke: idle time goes on. If the session has ended meanwhile, the page is
 * told so here, as the ticket would open nothing.
 */
export const noteSeen: CreateStep = {
  name: 'sign of life',
  async take({ record, input }: SessionFound, { sessions }: Pick<CreateDeps, 'sessions'>) {
    const { atMs, requestId } = input.request;
    const seen = await sessions.heartbeat(record.id, atMs, idleSec(record, atMs), everySession, requestId);
    if (seen === undefined) return refused('its session is no longer known');
    const over = requireEngaged(seen.record, atMs, sessions.limits);
    return over && refused(`the session was over (${over.additions.reason})`);
  },
};

/** Closes the sockets of the former page, on all nodes; sockets opened after this belong to the page that resumes. */
export const closeFormerPage: CreateStep = {
  name: 'former page',
  take({ record, input }: SessionFound, { live }: Pick<CreateDeps, 'live'>) {
    live.bus.publish({ type: 'session.resumed', sessionId: record.id, atMs: input.request.atMs });
    return undefined;
  },
};
