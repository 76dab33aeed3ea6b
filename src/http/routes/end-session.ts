import { z } from 'zod';
import { andThen } from '../../kernel/eventually.ts';
import { viewOf } from '../../voice/view.ts';
import { defineRoute, type Route } from '../route.ts';
import { optionalEmail, sessionId, sessionReply } from '../schemas.ts';
import { sessionNotFound, speaksFor } from '../../voice/proof.ts';
import type { HeartbeatParts } from './heartbeat.ts';

/** POST /api/realtime/end (contract section 5): idempotent. */
export function endSessionRoute({ sessions, subjects }: Pick<HeartbeatParts, 'sessions' | 'subjects'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/realtime/end',
    summary: 'End a session',
    tag: 'Voice sessions',
    cors: 'widgets',
    body: z.object({ sm_session_id: sessionId, email: optionalEmail }),
    replies: { 200: { description: 'The session is over', schema: sessionReply } },
    refusals: ['INVALID_REQUEST', 'SESSION_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    worksWithoutLogin: true,
    usesCookie: () => false,
    handle: ({ body, request, isService }) =>
      andThen(
        sessions.end(body.sm_session_id, 'closed_by_client', request.atMs, (record) =>
          speaksFor(record, body.email, subjects, isService),
        ),
        (outcome) =>
          outcome === undefined
            ? sessionNotFound()
            : { status: 200, body: { ok: true, session: viewOf(outcome.record, request.atMs) } },
      ),
  });
}
