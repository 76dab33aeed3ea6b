import type { VoiceFact } from '../../../../machines/voice-session/types.ts';
import { refOf } from '../../../kernel/ids.ts';
import { operatorEndReply, operatorEndRequest } from '../../../protocol/operator/session.ts';
import { audited, type ActLog, type Journal } from '../../../stores/journal/contract.ts';
import type { Events } from '../../../telemetry/events.ts';
import { sessionNotFound } from '../../../protocol/refusal.ts';
import { viewOf } from '../../../voice/records.ts';
import { defineRoute, type Route } from '../../route.ts';
import { sample } from '../../samples.ts';
import { entryOf } from './audit-entry.ts';
import { alwaysRefused, NAMED, ofNamed, sessionParams, TAG, type NamedDeps } from './named.ts';

export interface EndDeps extends NamedDeps {
  readonly acts: ActLog;
  readonly journal: Pick<Journal, 'beginnerOf'>;
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
        schema: operatorEndReply,
        example: { ok: true, session: { ...sample.session, active: false }, alreadyEnded: false },
      },
    },
    refusals: ['INVALID_REQUEST', 'ORIGIN_MISMATCH', 'SESSION_NOT_FOUND', 'AMBIGUOUS', ...alwaysRefused],
    handle: (call) =>
      ofNamed(call, deps, async (record) => {
        const { atMs, requestId } = call.request;
        const target = refOf(record.id);
        deps.events.operatorActed(call.operator.role, 'session.end', target, requestId);
        const outcome = await audited(
          deps.acts,
          entryOf(call, 'session.end', { target, tenantId: record.tenantId, reason: call.body?.reason }),
          () => deps.sessions.endForGood(record.id, 'closed_by_operator', atMs, requestId),
          (ended) => (isEndedBy(ended) ? 'done' : 'unchanged'),
        );
        if (outcome === undefined) return sessionNotFound();
        const session = viewOf(outcome.record, atMs);
        return { status: 200, body: { ok: true, session, alreadyEnded: !isEndedBy(outcome) } };
      }),
  });
}

/** Whether it was this act that ended the session: it may have ended before, or be due to end by the clock. */
export function isEndedBy(outcome: { readonly facts: readonly VoiceFact[] } | undefined): boolean {
  return outcome?.facts.some((fact) => fact.type === 'session.ended' && fact.reason === 'closed_by_operator') ?? false;
}
