import { z } from 'zod';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { readQuery } from '../http/query.ts';
import { defineRoute, type Call, type Result, type Route } from '../http/route.ts';
import { sample } from '../http/samples.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import type { Code } from '../protocol/errors/error-codes.ts';
import type { OperatorEvent } from '../protocol/operator/event.ts';
import { noSuchSession, Refusal } from '../protocol/refusal.ts';
import type { ActRole } from '../stores/journal/act-contract.ts';
import { idOfNamed } from '../sessions/find-sessions.ts';
import type { ActBy } from './journal/acts.ts';
import { seesTenant, type Operator, type Right } from './roles.ts';
import type { Services } from '../http/services.ts';
import { string } from '../protocol/fields.ts';
import type { Tenant } from '../stores/tenants/contract.ts';

export const TAG = 'Operators';
const ALWAYS_REFUSED = ['AUTH_REQUIRED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'] as const;
/** Beside them of every change: a console login counts only from a console origin. */
const CHANGES_REFUSED = ['ORIGIN_MISMATCH'] as const;

const noParameters = z.object({});

type Head<B> = Pick<
  Route<B>,
  'method' | 'path' | 'operationId' | 'summary' | 'description' | 'perOperator' | 'body' | 'bodyExample' | 'params'
>;

interface OperatorRouteHead<B, Q extends z.ZodObject> extends Head<B> {
  /** `see` by default. */
  readonly right?: Right;
  /** Without it no parameter is accepted, because a filter that is silently ignored would show too much. */
  readonly query?: Q;
  /** In addition to those of every operator route. */
  readonly refusals?: readonly Code[];
}

interface OperatorRoute<B, Q extends z.ZodObject, F> extends OperatorRouteHead<B, Q> {
  /** The successful reply; its status is 200 by default. */
  readonly reply: Route['replies'][number] & { readonly status?: 201 };
  /** Finds what the request is about, or refuses. */
  readonly find?: (call: Call<B>, query: z.output<Q>) => Eventually<F | Refusal>;
  /** The body of the reply, or a refusal. The query is as parsed by its schema; the last argument is what `find` found. */
  readonly handle: (call: Call<B>, query: z.output<Q>, found: F) => Eventually<object>;
}

/** A route for operators, which replies with JSON. */
export function operatorRoute<B, Q extends z.ZodObject = typeof noParameters, F = undefined>(
  route: OperatorRoute<B, Q, F>,
): Route {
  const { reply, find, handle, ...head } = route;
  const { status = 200, ...told } = reply;
  const bodyOf = (call: Call<B>, query: z.output<Q>): Eventually<object> =>
    find === undefined
      ? handle(call, query, undefined as F)
      : andThen(find(call, query), (found) => (found instanceof Refusal ? found : handle(call, query, found)));
  return operatorAnswerRoute<B, Q>({
    ...head,
    replies: { [status]: told },
    handle: (call, query) =>
      andThen(bodyOf(call, query), (body) => (body instanceof Refusal ? body : { status, body })),
  });
}

interface OperatorAnswerRoute<B, Q extends z.ZodObject>
  extends OperatorRouteHead<B, Q>, Pick<Route<B>, 'headers' | 'replies'> {
  readonly handle: (call: Call<B>, query: z.output<Q>) => Eventually<Result>;
}

/** A route for operators whose handler makes the whole answer, with its headers. */
export function operatorAnswerRoute<B, Q extends z.ZodObject = typeof noParameters>(
  route: OperatorAnswerRoute<B, Q>,
): Route {
  const { query, refusals = [], handle, ...head } = route;
  return defineRoute<B>({
    ...head,
    ...(query === undefined ? {} : { query }),
    tag: TAG,
    access: 'operator',
    refusals: [...(head.method === 'GET' ? [] : CHANGES_REFUSED), ...refusals, ...ALWAYS_REFUSED],
    handle(call) {
      const asked = readQuery(call.request.query, query ?? noParameters);
      return asked instanceof Refusal ? asked : handle(call, asked as z.output<Q>);
    },
  });
}

export const NAMED =
  'Name the session by its id, or by its ref, the first 42 characters; a ref that several sessions share is AMBIGUOUS.';

export const sessionParams = z.object({
  id: string('The `sm_session_id` or the ref of the session, percent-encoded', sample.sm_session_id),
});

/** The session that the request's path names by its id or ref; a session of a tenant that the operator does not see is treated as missing. */
export async function findNamed(call: Call, { sessions, core }: Services): Promise<VoiceRecord | Refusal> {
  const id = await idOfNamed(call.params[0] ?? '', core.stores.history);
  if (id instanceof Refusal) return id;
  const record = await sessions.find(id);
  return record !== undefined && seesTenant(call.operator, record.tenantId) ? record : noSuchSession();
}

/**
 * The scope of something new: a tenant, or null for the whole installation, which only operators who see all may name.
 * @param forbidden the message for tenant admins who name no tenant
 */
export function scopeOf(operator: Operator, tenantId: string | undefined, forbidden: string): string | null | Refusal {
  const scope = tenantId ?? null;
  if (seesTenant(operator, scope)) return scope;
  return scope === null ? new Refusal('FORBIDDEN', forbidden) : noTenant(scope);
}

/** A tenant by its id; one that the operator does not see is treated as missing. @throws Unavailable when the database is away */
export async function findTenant(
  operator: Operator,
  tenantId: string,
  { tenants: directory }: Services,
): Promise<Tenant | Refusal> {
  if (!seesTenant(operator, tenantId)) return noTenant(tenantId);
  // A tenant that was added a moment ago may not have reached this node yet.
  await directory.reload();
  return directory.tenant(tenantId) ?? noTenant(tenantId);
}

/** The refusal where a tenant does not exist, or the operator does not see it. */
export function noTenant(tenantId: string): Refusal {
  return new Refusal(
    'NOT_FOUND',
    `There is no tenant "${tenantId}"; GET /api/operator/keys names those that there are.`,
  );
}

/** An example event, for the interface description. */
export const exampleEvent: OperatorEvent = {
  id: '1041',
  at: '2030-01-01T12:05:02.004Z',
  kind: 'moved',
  event: 'CLOCK',
  from: 'engaged',
  to: 'idle',
  steps: [
    {
      event: 'CLOCK',
      from: 'live',
      to: 'live',
      guard: 'isAfterDeadline',
      actions: ['followClock'],
    },
    { event: '', from: 'live.engaged', to: 'live.dormant', guard: 'hasGoneIdle', actions: [] },
  ],
  guards: [
    { name: 'isAfterDeadline', passed: true },
    { name: 'isPastDuration', passed: false },
    { name: 'hasGoneIdle', passed: true },
  ],
  record: {
    version: 21,
    lastSeenAt: '2030-01-01T12:05:01.120Z',
    lastActivityAt: '2030-01-01T12:00:02.000Z',
    settledAt: '2030-01-01T12:05:02.004Z',
  },
  detail: { reason: null },
  node: 'Jm4c0Vb1T2yq8s5nXk9ZwA',
  requestId: null,
};

/** Who asks for a change, as the journal records it. */
export function actBy({ operator, request, body }: Call): ActBy {
  const { reason = null } = (body ?? {}) as { readonly reason?: string | null };
  // The pipeline admits no other role.
  const role = operator.role as ActRole;
  return { actor: operator.actor, role, atMs: request.atMs, requestId: request.requestId, reason };
}
