import { andThen } from '../../kernel/async.ts';
import { sessionProof, sessionReply } from '../../protocol/session.ts';
import { sessionNotFound } from '../../protocol/refusal.ts';
import { viewOf } from '../../sessions/records.ts';
import { speaksFor } from '../../sessions/sessions.ts';
import { defineRoute, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import { addressScope } from '../steps/rate-limit.ts';
import type { Services } from '../services.ts';

type EndServices = Pick<Services, 'sessions' | 'identity' | 'suspects'>;

/** POST /api/realtime/end (docs/contract.md, section 5.7): idempotent. */
export function endSessionRoute({ sessions, identity, suspects }: EndServices): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/realtime/end',
    operationId: 'endSession',
    summary: 'End a session',
    description:
      'Idempotent: ending an ended session changes nothing and gets the same reply. 503 means that the end could not be saved yet: the session is over all the same, and repeating the request tells when the end is saved.',
    tag: 'Voice sessions',
    access: 'proof',
    cors: 'widgets',
    body: sessionProof,
    bodyExample: { sm_session_id: sample.sm_session_id },
    replies: {
      200: {
        description: 'The session is over',
        schema: sessionReply,
        example: { ok: true, session: { ...sample.session, active: false } },
      },
    },
    refusals: ['SESSION_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    handle: ({ body, request, isService, ip }) =>
      andThen(
        sessions.endForGood(body.sm_session_id, 'closed_by_client', request.atMs, request.requestId, (record) =>
          speaksFor(record, body.email, identity.subjects, isService),
        ),
        (outcome) => {
          if (outcome === undefined) return sessionNotFound();
          const { record } = outcome;
          if (!isService) suspects.noteEnd(record, addressScope(ip), request.atMs);
          return { status: 200, body: { ok: true, session: viewOf(record, request.atMs) } };
        },
      ),
  });
}
