import { z } from 'zod';
import { classify, nextDeadline } from '../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import {
  operatorEndRequest,
  operatorSessionDetail,
  operatorSessionPage,
  overview,
  sessionFilters,
  type EndedBy,
} from '../../protocol/operator.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { sessionReply } from '../../protocol/session.ts';
import { refOf } from '../../kernel/ids.ts';
import type { Audit } from '../../stores/audit/contract.ts';
import type { Ledger } from '../../stores/ledger/contract.ts';
import type { Calls } from '../../calls/contract.ts';
import type { SessionSetups } from '../../stores/session-setups/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import { viewOf } from '../../voice/view.ts';
import { invalidFields } from '../invalid-request.ts';
import { defineRoute, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import { callsOf, exampleCall } from './operator-calls.ts';
import { eventsRoute, exampleEvent, newestEvents, type OperatorEventsDeps } from './operator-events.ts';
import { alwaysRefused, findNamed, NAMED, sessionParams, TAG, withQuery, type NamedDeps } from './operator-named.ts';
import { describe, exampleSession } from './operator-session.ts';
import { sessionNotFound } from '../../voice/proof.ts';

export interface OperatorDeps extends NamedDeps, OperatorEventsDeps {
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly calls: Pick<Calls, 'ofSession'>;
  readonly ledger: Pick<Ledger, 'metersOf'>;
  readonly audit: Audit;
  readonly events: Events;
}

const DAY_MS = 86_400_000;
/** The action of the audit. */
const END = 'session.end';

const noParameters = z.object({});

/** The operator API for monitoring (docs/contract.md, section 8). */
export function operatorRoutes(deps: OperatorDeps): Route[] {
  return [overviewRoute(deps), listRoute(deps), oneRoute(deps), eventsRoute(deps), endRoute(deps)];
}

function overviewRoute(deps: OperatorDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/overview',
    operationId: 'getOverview',
    summary: 'Counts by state, caller and tenant',
    description: 'Callers and tenants count live sessions; ended counts those of the last day.',
    tag: TAG,
    access: 'operator',
    replies: {
      200: {
        description: 'Live sessions, and those that ended within a day',
        schema: overview,
        example: {
          byState: { engaged: 12, idle: 2, stale: 0, ended: 340 },
          byCaller: { widget: 13, console: 1 },
          byTenant: { acme: 14 },
        },
      },
    },
    refusals: [...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const counts = await deps.history.counts(call.request.atMs - DAY_MS);
        return { status: 200, body: counts };
      }),
  });
}

function listRoute(deps: OperatorDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions',
    operationId: 'listSessions',
    summary: 'Sessions, newest first',
    description: 'A page at a time: pass nextCursor of one page as cursor for the next, until it is null.',
    tag: TAG,
    access: 'operator',
    query: sessionFilters,
    replies: {
      200: {
        description: 'A page of sessions',
        schema: operatorSessionPage,
        example: { sessions: [exampleSession], nextCursor: null },
      },
    },
    refusals: ['INVALID_REQUEST', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, sessionFilters, async ({ cursor, limit, q: idPrefix, ...filter }) => {
        const page = await deps.history.list({ ...filter, idPrefix }, cursor, limit);
        if (page === undefined)
          return invalidFields([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
        const sessions = page.rows.map((row) => describe(row.record, row.state, call.request.atMs));
        return { status: 200, body: { sessions, nextCursor: page.nextCursor ?? null } };
      }),
  });
}

function oneRoute(deps: OperatorDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}',
    operationId: 'getSession',
    summary: 'One session: record, state, next deadline, who ended it, its metadata and calls',
    description: `The next deadline is when the session changes by the clock alone; null once it has ended. ${NAMED}`,
    params: sessionParams,
    tag: TAG,
    access: 'operator',
    replies: {
      200: {
        description: 'The session',
        schema: operatorSessionDetail,
        example: {
          ...exampleSession,
          nextDeadline: '2030-01-01T12:15:00.000Z',
          endedBy: null,
          metadata: { page: 'pricing' },
          calls: [exampleCall],
          events: [exampleEvent],
          moreEvents: false,
          lost: [],
        },
      },
    },
    refusals: ['SESSION_NOT_FOUND', 'AMBIGUOUS', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const record = await findNamed(call, deps);
        if (record instanceof Refusal) return record;
        const { limits } = deps.sessions;
        const { atMs } = call.request;
        const deadline = nextDeadline(record, limits);
        const body = {
          ...describe(record, classify(record, atMs, limits), atMs),
          nextDeadline: Number.isFinite(deadline) ? new Date(deadline).toISOString() : null,
          endedBy: await endedBy(record, deps.audit),
          metadata: (await deps.setups.find(record.id))?.metadata ?? null,
          calls: await callsOf(record.id, deps),
          ...(await newestEvents(record, atMs, deps)),
        };
        return { status: 200, body };
      }),
  });
}

function endRoute(deps: OperatorDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/operator/sessions/{id}/end',
    operationId: 'endSessionAsOperator',
    summary: 'End one session',
    description: `Idempotent. Who ended it, when and why is kept. ${NAMED}`,
    tag: TAG,
    access: 'operator',
    body: operatorEndRequest.optional(),
    params: sessionParams,
    bodyExample: { reason: 'the visitor asked us to' },
    replies: {
      200: {
        description: 'The session is over',
        schema: sessionReply,
        example: { ok: true, session: { ...sample.session, active: false } },
      },
    },
    refusals: ['INVALID_REQUEST', 'ORIGIN_MISMATCH', 'SESSION_NOT_FOUND', 'AMBIGUOUS', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const { operator: actor } = call;
        const { atMs, requestId } = call.request;
        const record = await findNamed(call, deps);
        if (record instanceof Refusal) return record;
        const target = refOf(record.id);
        // Before the change: a row whose change then failed can be explained, a change without a row can not.
        await deps.audit.append({
          atMs,
          actor,
          action: END,
          target,
          reason: call.body?.reason ?? null,
          requestId,
        });
        deps.events.operatorActed(actor === 'service' ? actor : 'operator', END, target, requestId);
        const outcome = await deps.sessions.end(record.id, 'closed_by_operator', atMs);
        if (outcome === undefined) return sessionNotFound();
        return { status: 200, body: { ok: true, session: viewOf(outcome.record, atMs) } };
      }),
  });
}

/** The act that ended the session: later ones found it ended. */
async function endedBy(record: VoiceRecord, audit: Audit): Promise<EndedBy> {
  if (record.endReason !== 'closed_by_operator' || record.endedAtMs === null) return null;
  const entry = await audit.latest(END, refOf(record.id), record.endedAtMs);
  if (entry === undefined) return null;
  const { actor, reason, atMs, requestId } = entry;
  return { actor, reason, at: new Date(atMs).toISOString(), requestId };
}
