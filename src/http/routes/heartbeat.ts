import { z } from 'zod';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { Subjects } from '../../auth/subjects.ts';
import type { Refusal } from '../../kernel/errors.ts';
import { andThen, type Eventually } from '../../kernel/eventually.ts';
import { sessionNotFound, speaksFor } from '../../voice/proof.ts';
import { endedRefusal, isViolation, viewOf, viewText } from '../../voice/view.ts';
import type { VoiceOutcome, VoiceSessions } from '../../voice/voice-sessions.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { optionalEmail, sample, sessionId, sessionReply } from '../schemas.ts';

export interface HeartbeatParts {
  readonly sessions: VoiceSessions;
  readonly subjects: Subjects;
  readonly destroyLogin: (loginId: string, atMs: number) => Promise<unknown>;
}

const json = [['Content-Type', 'application/json; charset=utf-8']] as const;

const body = z.object({
  sm_session_id: sessionId,
  email: optionalEmail,
  idleSec: z.int().min(0).optional().meta({ description: 'How long nobody has spoken, as the client knows it' }),
});

/** POST /api/realtime/heartbeat (specification section 4.2). */
export function heartbeatRoute(parts: HeartbeatParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/realtime/heartbeat',
    operationId: 'sendHeartbeat',
    summary: 'Keep a session alive',
    description:
      'Send one every `heartbeat.intervalSec` of the create reply. Every heartbeat to an ended session gets the same terminal 403, whose `reason` tells why it ended.',
    tag: 'Voice sessions',
    access: 'proof',
    cors: 'widgets',
    body,
    bodyExample: { sm_session_id: sample.sm_session_id, idleSec: 0 },
    replies: {
      200: {
        description: 'The session goes on',
        schema: sessionReply,
        example: { ok: true, session: sample.session },
      },
    },
    refusals: [
      'INVALID_REQUEST',
      'SESSION_DURATION_EXCEEDED',
      'SESSION_NOT_FOUND',
      'RATE_LIMIT_EXCEEDED',
      'SERVICE_UNAVAILABLE',
    ],
    usesCookie: () => false,
    handle(call): Eventually<Result> {
      const { body, request, isService } = call;
      const admits = (record: VoiceRecord): boolean => speaksFor(record, body.email, parts.subjects, isService);
      return andThen(parts.sessions.heartbeat(body.sm_session_id, request.atMs, body.idleSec, admits), (outcome) =>
        reply(outcome, call, parts),
      );
    },
  });
}

function reply(outcome: VoiceOutcome | undefined, call: Call, parts: HeartbeatParts): Eventually<Result> {
  if (outcome === undefined) return sessionNotFound();
  const { record } = outcome;
  const { atMs } = call.request;
  if (record.endReason === null)
    return { status: 200, headers: json, body: `{"ok":true,"session":${viewText(viewOf(record, atMs))}}` };
  return endedReply(endedRefusal(record.endReason, parts.sessions.limits.maxMinutes), record, call, parts);
}

/** The refusal of an ended session; the login that opened it is destroyed when a violation ended it (contract section 5). */
export function endedReply(
  refusal: Refusal,
  record: VoiceRecord,
  call: Call,
  parts: Pick<HeartbeatParts, 'destroyLogin'>,
): Eventually<Result> {
  // Only the login that opened the session pays for its end: an old tab must not log out a new login.
  if (call.login === undefined || record.loginId !== call.login.id || !isViolation(record.endReason)) return refusal;
  return andThen(parts.destroyLogin(call.login.id, call.request.atMs), () => ({ refusal, cookie: { kind: 'clear' } }));
}
