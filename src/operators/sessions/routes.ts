import { classify, nextDeadline } from '../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { actorSeenBy } from '../roles.ts';
import { refOf } from '../../kernel/ids.ts';
import { iso } from '../../kernel/time.ts';
import { type EndedBy, operatorSessionDetail, whisperRequest } from '../../protocol/operator/session.ts';
import type { Entry } from '../../stores/journal/contract.ts';
import { limitsInForce, toOperatorSession } from './view.ts';
import { toAuditRow, viewOfRefusal, eventsOf, newestEvents, toEvents, viewsOf } from '../journal/view.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Call, Route } from '../../http/route.ts';
import { callsOf, toOperatorCalls } from '../calls/view.ts';
import { exampleEvent, findNamed, NAMED, operatorRoute, sessionParams, actBy } from '../operator-route.ts';
import { refusalsOf, timelineCounts, timelineOf } from './timeline.ts';
import { whyNoWhisper, whisper } from './whisper.ts';
import { actOf, whyOf } from './explain.ts';
import { type About, operatorEventPage, pageOfEvents } from '../../protocol/operator/event.ts';
import { exampleCall } from '../calls/routes.ts';
import { exampleSession } from './list-routes.ts';
import type { Services } from '../../http/services.ts';
import { done } from '../../protocol/fields.ts';
import { journalCursor, readCursor, readJournalCursor, writeCursor } from '../pagination.ts';

/** The newest acts on a session that are returned with it. */
const MAX_ACTS = 5;
/** The newest refusals that are returned too. */
const MAX_REFUSALS = 5;

export function sessionRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}',
    operationId: 'getSession',
    summary: 'Get one session: its record, state, end reason, next deadline, metadata, calls and events',
    description: `The next deadline is when the clock alone will change the session; null once it has ended. ${NAMED}`,
    params: sessionParams,
    reply: {
      description: 'The session',
      schema: operatorSessionDetail,
      example: {
        ...exampleSession,
        nextDeadline: '2030-01-01T12:15:00.000Z',
        endedBy: null,
        why: {
          sentence: 'Still open: it ends 2030-01-01 12:15:00 UTC, when 15 min (MAX_SESSION_MINUTES) are over.',
          facts: [
            'Opened 2030-01-01 12:00:00 UTC, open for 90 s; last heartbeat 2030-01-01 12:01:30 UTC, last activity 2030-01-01 12:01:30 UTC.',
          ],
        },
        mayWhisper: true,
        audit: [],
        refusals: [],
        limits: {
          maxMinutes: { value: 15, setBy: 'MAX_SESSION_MINUTES' },
          concurrentSessions: { value: 2, setBy: 'limits.concurrentSessions' },
          'totals.dollarsDaily': { value: 100, setBy: 'totals.dollarsDaily' },
        },
        metadata: { page: 'pricing' },
        hasContext: false,
        agentVersion: '4f1c0e8b7d2a',
        rating: null,
        calls: [exampleCall],
        events: [exampleEvent],
        moreEvents: false,
        lost: [],
      },
    },
    refusals: ['SESSION_NOT_FOUND', 'AMBIGUOUS'],
    find: (call) => findNamed(call, services),
    handle: async (call, _query, record) => {
      const { limits } = services.sessions;
      const { history, journal, sessionSetups, usageReports } = services.core.stores;
      const { atMs } = call.request;
      const deadline = nextDeadline(record, limits);
      const [calls, events, found, setup, acts, usage, refused, ratings] = await Promise.all([
        callsOf(record.id, services),
        newestEvents(record, atMs, journal),
        actOf(record, services),
        sessionSetups.find(record.id),
        journal.list({ kinds: ['act'], tenants: '*', target: refOf(record.id) }, undefined, MAX_ACTS),
        usageReports.ofSessions([record.id]),
        journal.list(refusalsOf(record, atMs, call.operator), undefined, MAX_REFUSALS),
        history.ratingsOf([record.id]),
      ]);
      const act = found && { ...found, of: { ...found.of, actor: actorSeenBy(call.operator, found.of.actor ?? '') } };
      return {
        ...toOperatorSession(record, classify(record, atMs, limits), atMs, call.operator, limits, usage.get(record.id)),
        nextDeadline: Number.isFinite(deadline) ? iso(deadline) : null,
        endedBy: endedBy(record, act),
        why: await whyOf(
          { record, ...calls, ...events, act, used: usage.get(record.id), atMs, operator: call.operator },
          services,
        ),
        mayWhisper: whyNoWhisper({ record, atMs, setup, calls: calls.records }, call.operator, services) === undefined,
        audit: acts.entries.map((entry) => toAuditRow(entry, call.operator)),
        refusals: refused.entries.map((one) => viewOfRefusal(one, call.operator.tenants)),
        limits: limitsInForce(record, limits, services),
        metadata: setup?.metadata ?? null,
        hasContext: setup !== undefined && setup.sealedContext !== null,
        agentVersion: setup?.agentVersion ?? null,
        rating: ratings.get(record.id) ?? null,
        calls: toOperatorCalls(calls, call.operator),
        ...toEvents(events, call.operator),
      };
    },
  });
}

function endedBy({ endReason }: VoiceRecord, act: Entry<'act'> | undefined): EndedBy {
  if (endReason !== 'closed_by_operator' || act === undefined) return null;
  const { of, detail, atMs, requestId } = act;
  return { actor: of.actor ?? '', reason: detail.reason, at: iso(atMs), requestId };
}

export function eventsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}/events',
    operationId: 'listSessionEvents',
    summary: 'List what a session’s machine did, newest first',
    description: `Each event that changed its state, with the guards that were evaluated; with \`about\` everything that happened with the session in one list: also its calls, usage, tools, webhooks, actions of operators, and refusals of its subject. ${NAMED}`,
    params: sessionParams,
    query: pageOfEvents,
    reply: {
      description: 'A page of events',
      schema: operatorEventPage,
      example: { events: [exampleEvent], nextCursor: null },
    },
    refusals: ['SESSION_NOT_FOUND', 'AMBIGUOUS'],
    handle: async (call, { cursor, limit, about }) => {
      if (about !== undefined) return timeline(call, { cursor, limit, about }, services);
      const after = readJournalCursor(cursor);
      if (after instanceof Refusal) return after;
      const record = await findNamed(call, services);
      if (record instanceof Refusal) return record;
      const page = await eventsOf('voice-session', refOf(record.id), after, limit, services.core.stores.journal);
      return {
        events: viewsOf(page, call.operator),
        nextCursor: page.next === undefined ? null : writeCursor(journalCursor(page.next)),
      };
    },
  });
}

/** A page of everything that happened in a session. */
async function timeline(
  call: Call,
  { cursor, limit, about }: { readonly cursor?: string | undefined; readonly limit: number; readonly about: About[] },
  services: Services,
): Promise<object> {
  const after = readCursor(cursor, [0, 0, 0] as const);
  if (after instanceof Refusal) return after;
  const record = await findNamed(call, services);
  if (record instanceof Refusal) return record;
  const asked = { record, atMs: call.request.atMs, operator: call.operator };
  const [page, counted] = await Promise.all([
    timelineOf({ ...asked, about: new Set(about), after, limit }, services),
    after === undefined ? timelineCounts(asked, services) : undefined,
  ]);
  const nextCursor = page.next === undefined ? null : writeCursor(page.next);
  return { events: page.events, ...counted, nextCursor };
}

export function whisperRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/sessions/{id}/whisper',
    operationId: 'whisperToAgent',
    summary: 'Tell a session’s agent something that its page does not see',
    description: `Sends a system message into the open call, to which the agent does not respond. The words are stored nowhere; the audit records who whispered. At most 10 a minute for each session. ${NAMED}`,
    right: 'change',
    body: whisperRequest,
    params: sessionParams,
    bodyExample: { text: 'The visitor is a customer of many years: offer the refund.' },
    reply: { description: 'The message was sent to the provider', schema: done, example: { ok: true } },
    refusals: ['SESSION_NOT_FOUND', 'AMBIGUOUS', 'CONFLICT', 'SESSION_DURATION_EXCEEDED'],
    find: (call) => findNamed(call, services),
    handle: async (call, _query, record) => {
      const [calls, setup] = await Promise.all([
        services.calls.ofSession(record.id),
        services.core.stores.sessionSetups.find(record.id),
      ]);
      const { atMs } = call.request;
      const refused = await whisper({ record, atMs, setup, calls }, call.body.text, {
        operator: call.operator,
        by: actBy(call),
        services,
      });
      return refused ?? { ok: true };
    },
  });
}
