import { ratedSession } from '../../protocol/session.ts';
import { Refusal, sessionNotFound } from '../../protocol/refusal.ts';
import { done } from '../../protocol/fields.ts';
import { rateSession } from '../../sessions/rate-session.ts';
import { speaksFor } from '../../sessions/sessions.ts';
import { defineRoute, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import type { Services } from '../services.ts';

/** POST /api/realtime/rate (docs/contract.md, section 5.18). */
export function rateSessionRoute({
  sessions,
  identity,
  core,
}: Pick<Services, 'sessions' | 'identity' | 'core'>): Route {
  const { history } = core.stores;
  return defineRoute({
    method: 'POST',
    path: '/api/realtime/rate',
    operationId: 'rateSession',
    summary: 'Rate a conversation',
    description:
      'Possible during the session and for five minutes after its end; the last rating counts. Operators see it as `rating` of the session.',
    tag: 'Voice sessions',
    access: 'proof',
    cors: 'widgets',
    body: ratedSession,
    bodyExample: { sm_session_id: sample.sm_session_id, value: 5 },
    replies: {
      200: { description: 'The rating is saved', schema: done, example: { ok: true } },
    },
    refusals: ['SESSION_NOT_FOUND', 'SESSION_DURATION_EXCEEDED', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    async handle({ body, request, isService }) {
      const record = await sessions.find(body.sm_session_id);
      if (record === undefined || !speaksFor(record, body.email, identity.subjects, isService))
        return sessionNotFound();
      const refused = await rateSession(record, body.value, request.atMs, history, sessions.limits.maxMinutes);
      return refused instanceof Refusal ? refused : { status: 200, body: { ok: true } };
    },
  });
}
