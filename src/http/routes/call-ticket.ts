import type { SessionProof } from '../../protocol/session.ts';
import { ticketReply, ticketRequest } from '../../protocol/create.ts';
import { callsUsedUp } from '../../calls/open-call.ts';
import { requireEngaged } from '../../sessions/require-engaged.ts';
import { sessionNotFound } from '../../protocol/refusal.ts';
import { speaksFor } from '../../sessions/sessions.ts';
import { invalid, refusedOf } from '../refusals.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import type { Services } from '../services.ts';

type TicketServices = Pick<Services, 'core' | 'identity' | 'sessions' | 'calls'>;

/** POST /api/realtime/ticket (docs/contract.md, section 5.11). */
export function callTicketRoute(services: TicketServices): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/realtime/ticket',
    operationId: 'getCallTicket',
    summary: 'Get another client secret for a live session',
    description:
      'For a further call of a brokered session, for example after a change of network; opening it hangs up the call before. A session may open `CALLS_PER_SESSION` calls: after that the request is refused, and the current call continues.',
    tag: 'Voice sessions',
    access: 'proof',
    cors: 'widgets',
    body: ticketRequest,
    bodyExample: { sm_session_id: sample.sm_session_id },
    replies: {
      200: {
        description: 'A ticket for one call',
        schema: ticketReply,
        example: {
          client_secret: { value: 'ek_sb_Zm9yIG9uZSBjYWxsIG9ubHksIHRoZW4gaXQgaXMgc3BlbnQ', expires_at: 1_893_499_260 },
        },
      },
    },
    refusals: ['SESSION_DURATION_EXCEEDED', 'SESSION_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    handle: (call) => give(call, services),
  });
}

async function give(call: Call<SessionProof>, { core, identity, sessions, calls }: TicketServices): Promise<Result> {
  const { body, request, isService } = call;
  const record = await sessions.find(body.sm_session_id);
  if (record === undefined || !speaksFor(record, body.email, identity.subjects, isService)) return sessionNotFound();
  const over = requireEngaged(record, request.atMs, sessions.limits);
  if (over !== undefined) return refusedOf(record, over, call, identity);
  const [setup, opened] = await Promise.all([core.stores.sessionSetups.find(record.id), calls.ofSession(record.id)]);
  if (setup?.callMode !== 'brokered')
    return invalid('is a session whose page opens its call itself (call.mode direct)', 'sm_session_id');
  // Refused here, before the page gives up the call that it has.
  const { perSession } = core.config.calls;
  if (opened.length >= perSession) return refusedOf(record, callsUsedUp(perSession), call, identity);
  const { value, expiresAtSec } = await calls.tickets.issue(record.id, request.atMs);
  return { status: 200, body: { client_secret: { value, expires_at: expiresAtSec } } };
}
