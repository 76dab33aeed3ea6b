import { refOf } from '../../../kernel/ids.ts';
import { operatorEndRequest } from '../../../protocol/operator/session.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { sessionReply } from '../../../protocol/session.ts';
import type { Audit } from '../../../stores/audit/contract.ts';
import type { Events } from '../../../telemetry/events.ts';
import { sessionNotFound } from '../../../voice/proof.ts';
import { viewOf } from '../../../voice/view.ts';
import { defineRoute, type Route } from '../../route.ts';
import { sample } from '../../samples.ts';
import {
  alwaysRefused,
  findNamed,
  NAMED,
  noParameters,
  sessionParams,
  TAG,
  withQuery,
  type NamedDeps,
} from './named.ts';

export interface EndDeps extends NamedDeps {
  readonly audit: Pick<Audit, 'append'>;
  readonly events: Events;
}

/** Ends one session. */
export function endRoute(deps: EndDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/operator/sessions/{id}/end',
    operationId: 'endSessionAsOperator',
    summary: 'End one session',
    description: `Idempotent. Who ended it, when and why is kept. ${NAMED}`,
    tag: TAG,
    access: 'operator',
    right: 'change',
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
        const { actor, role } = call.operator;
        const { atMs, requestId } = call.request;
        const record = await findNamed(call, deps);
        if (record instanceof Refusal) return record;
        const target = refOf(record.id);
        // Before the change: a row whose change then failed can be explained, a change without a row can not.
        await deps.audit.append({
          atMs,
          actor,
          action: 'session.end',
          target,
          reason: call.body?.reason ?? null,
          requestId,
        });
        deps.events.operatorActed(role, 'session.end', target, requestId);
        const outcome = await deps.sessions.end(record.id, 'closed_by_operator', atMs);
        if (outcome === undefined) return sessionNotFound();
        return { status: 200, body: { ok: true, session: viewOf(outcome.record, atMs) } };
      }),
  });
}
