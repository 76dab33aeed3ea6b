import { z } from 'zod';
import { classify, nextDeadline } from '../../../machines/voice-session/selectors.ts';
import type { VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Audit } from '../../stores/audit/contract.ts';
import type { VoiceHistory } from '../../stores/voice-history/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import { viewOf } from '../../voice/view.ts';
import type { VoiceSessions } from '../../voice/voice-sessions.ts';
import { operatorOf, type OperatorRule } from '../operator-access.ts';
import { invalidQuery, readQuery } from '../query.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { liveSession, ok } from '../schemas.ts';
import { sessionNotFound } from '../../voice/proof.ts';

export interface OperatorParts extends OperatorRule {
  readonly sessions: VoiceSessions;
  readonly history: VoiceHistory;
  readonly audit: Audit;
  readonly events: Events;
}

const DAY_MS = 86_400_000;
const tag = 'Operators';
const credentials = ['cookie', 'service'] as const;
const always = ['AUTH_REQUIRED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'] as const;
const state = z.enum(['engaged', 'idle', 'stale', 'ended']);
const count = z.int().min(0);

const listed = z
  .object({
    id: z.string(),
    state,
    caller: z.enum(['widget', 'console']),
    emailHash: z.string(),
    tenantId: z.string(),
    agentId: z.string().nullable(),
    keyId: z.string().nullable(),
    provider: z.string(),
    upstreamId: z.string(),
    endedAt: z.iso.datetime().nullable(),
    endReason: z.string().nullable(),
    session: liveSession,
  })
  .meta({ id: 'OperatorSession' });

const filters = z.object({
  state: state.optional(),
  tenantId: z.string().min(1).max(128).optional(),
  agentId: z.string().min(1).max(128).optional(),
  caller: z.enum(['widget', 'console']).optional(),
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** The operator API for monitoring (contract section 8). */
export function operatorRoutes(parts: OperatorParts): Route[] {
  return [overviewRoute(parts), listRoute(parts), oneRoute(parts), endRoute(parts)];
}

function overviewRoute(parts: OperatorParts): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/overview',
    summary: 'Counts by state, caller and tenant',
    tag,
    credentials,
    replies: {
      200: {
        description: 'Live sessions, and those that ended within a day',
        schema: z.object({
          byState: z.object({ engaged: count, idle: count, stale: count, ended: count }),
          byCaller: z.object({ widget: count, console: count }),
          byTenant: z.record(z.string(), count),
        }),
      },
    },
    refusals: [...always],
    handle: (call) =>
      asOperator(call, parts, async () => {
        const counts = await parts.history.counts(call.request.atMs - DAY_MS);
        return { status: 200, body: counts };
      }),
  });
}

function listRoute(parts: OperatorParts): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions',
    summary: 'Sessions, newest first',
    tag,
    credentials,
    query: filters,
    replies: {
      200: {
        description: 'A page of sessions',
        schema: z.object({ sessions: z.array(listed), nextCursor: z.string().nullable() }),
      },
    },
    refusals: ['INVALID_REQUEST', ...always],
    handle: (call) =>
      asOperator(call, parts, async () => {
        const query = readQuery(call.request.query, filters);
        if (query instanceof Refusal) return query;
        const { cursor, limit, ...filter } = query;
        const page = await parts.history.list(filter, cursor, limit);
        if (page === undefined)
          return invalidQuery([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
        const sessions = page.rows.map((row) => describe(row.record, row.state, call.request.atMs));
        return { status: 200, body: { sessions, nextCursor: page.nextCursor ?? null } };
      }),
  });
}

function oneRoute(parts: OperatorParts): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}',
    summary: 'One session: record, state, next deadline',
    tag,
    credentials,
    replies: {
      200: { description: 'The session', schema: listed.extend({ nextDeadline: z.iso.datetime().nullable() }) },
    },
    refusals: ['SESSION_NOT_FOUND', ...always],
    handle: (call) =>
      asOperator(call, parts, async () => {
        const record = await parts.sessions.find(call.params[0] ?? '');
        if (record === undefined) return sessionNotFound();
        const { limits } = parts.sessions;
        const { atMs } = call.request;
        const deadline = nextDeadline(record, limits);
        const body = {
          ...describe(record, classify(record, atMs, limits), atMs),
          nextDeadline: Number.isFinite(deadline) ? new Date(deadline).toISOString() : null,
        };
        return { status: 200, body };
      }),
  });
}

function endRoute(parts: OperatorParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/operator/sessions/{id}/end',
    summary: 'End one session',
    description: 'Idempotent. Who ended it, when and why is kept.',
    tag,
    credentials,
    body: z.object({ reason: z.string().max(500).optional() }),
    bodyIsOptional: true,
    replies: { 200: { description: 'The session is over', schema: z.object({ ok, session: liveSession }) } },
    refusals: ['INVALID_REQUEST', 'ORIGIN_MISMATCH', 'SESSION_NOT_FOUND', ...always],
    handle: (call) =>
      asOperator(call, parts, async (actor) => {
        const { atMs, requestId } = call.request;
        const target = call.params[0] ?? '';
        if ((await parts.sessions.find(target)) === undefined) return sessionNotFound();
        // Before the change: a row whose change then failed can be explained, a change without a row can not.
        await parts.audit.append({
          atMs,
          actor,
          action: 'session.end',
          target,
          reason: call.body.reason ?? null,
          requestId,
        });
        parts.events.operatorActed(
          actor === 'service' ? actor : 'operator',
          'session.end',
          target.slice(0, 42),
          requestId,
        );
        const outcome = await parts.sessions.end(target, 'closed_by_operator', atMs);
        if (outcome === undefined) return sessionNotFound();
        return { status: 200, body: { ok: true, session: viewOf(outcome.record, atMs) } };
      }),
  });
}

async function asOperator(call: Call, rule: OperatorRule, work: (actor: string) => Promise<Result>): Promise<Result> {
  const actor = operatorOf(call, rule);
  return actor instanceof Refusal ? actor : work(actor);
}

function describe(record: VoiceRecord, state: VoiceState, at: number): z.infer<typeof listed> {
  const {
    id,
    caller,
    subject: emailHash,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAtMs,
    endReason,
  } = record;
  const endedAt = endedAtMs === null ? null : new Date(endedAtMs).toISOString();
  return {
    id,
    state,
    caller,
    emailHash,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAt,
    endReason,
    session: viewOf(record, at),
  };
}
