import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { heartbeatRequest, type HeartbeatRequest, sessionReply } from '../../protocol/session.ts';
import { endedRefusal, sessionNotFound } from '../../protocol/refusal.ts';
import type { Eventually } from '../../kernel/async.ts';
import { viewText } from '../../sessions/records.ts';
import { spokenForBy, type VoiceOutcome } from '../../sessions/sessions.ts';
import { defineRoute, type Answer, type Call, type Result, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import type { Services } from '../services.ts';
import { refusedOf } from '../refusals.ts';

/** POST /api/realtime/heartbeat (docs/contract.md, section 5.6). */
export function heartbeatRoute({ sessions, identity }: Pick<Services, 'sessions' | 'identity'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/realtime/heartbeat',
    operationId: 'sendHeartbeat',
    summary: 'Keep a session alive',
    description:
      'Send a heartbeat every `heartbeat.intervalSec` seconds, as given in the reply to the create. Every heartbeat to an ended session gets the same final 403, whose `reason` says why it ended.',
    tag: 'Voice sessions',
    access: 'proof',
    cors: 'widgets',
    body: heartbeatRequest,
    usual: usualHeartbeat,
    bodyExample: { sm_session_id: sample.sm_session_id, idleSec: 0 },
    replies: {
      200: {
        description: 'The session is open',
        schema: sessionReply,
        example: { ok: true, session: sample.session },
      },
    },
    refusals: ['SESSION_DURATION_EXCEEDED', 'SESSION_NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    handleCounted(call, counted) {
      const { body, request, isService } = call;
      const admits = spokenForBy(body.email, identity.subjects, isService);
      const { sm_session_id, idleSec } = body;
      const beating = sessions.countedHeartbeat(sm_session_id, request.atMs, idleSec, admits, counted);
      return beating?.then(
        (beat) => beat && { taken: beat.taken, result: beat.record && goesOn(beat.record, request.atMs) },
      );
    },
    handle(call): Eventually<Result> {
      const { body, request, isService } = call;
      const { atMs, requestId } = request;
      const admits = spokenForBy(body.email, identity.subjects, isService);
      const beating = sessions.heartbeat(body.sm_session_id, atMs, body.idleSec, admits, requestId);
      return beating instanceof Promise
        ? replyLater(beating, call, sessions, identity)
        : reply(beating, call, sessions, identity);
    },
  });
}

/** A separate function, so that the synchronous path creates no closure. */
function replyLater(
  beating: Promise<VoiceOutcome | undefined>,
  call: Call,
  sessions: Services['sessions'],
  identity: Services['identity'],
): Promise<Result> {
  return beating.then((outcome) => reply(outcome, call, sessions, identity));
}

function reply(
  outcome: VoiceOutcome | undefined,
  call: Call,
  { limits }: Services['sessions'],
  identity: Services['identity'],
): Eventually<Result> {
  if (outcome === undefined) return sessionNotFound();
  const { record } = outcome;
  const { atMs } = call.request;
  if (record.endReason === null) return goesOn(record, atMs);
  return refusedOf(record, endedRefusal(record.endReason, limits.maxMinutes), call, identity);
}

function goesOn(record: VoiceRecord, atMs: number): Answer {
  return { status: 200, isJson: true, body: `{"ok":true,"session":${viewText(record, atMs)}}` };
}

/** Where the id begins and ends in the texts below. */
const ID_FROM = '{"sm_session_id":"'.length;
const ID_TO = ID_FROM + 's:'.length + 32 + ':'.length + 22;
const IDLE_FROM = ID_TO + '","idleSec":'.length;

const usual = /^\{"sm_session_id":"s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}(?:"|","idleSec":(?:0|[1-9]\d{0,8}))\}$/;

/**
 * `usual` of the route: recognizes the two texts that make up nearly all traffic, without a parser and a schema; undefined for every other
 * text, which the parser and the schema then decide on. A property test holds both together.
 */
export function usualHeartbeat(text: string): HeartbeatRequest | undefined {
  if (!usual.test(text)) return undefined;
  const sm_session_id = text.slice(ID_FROM, ID_TO);
  return text.length < IDLE_FROM ? { sm_session_id } : { sm_session_id, idleSec: Number(text.slice(IDLE_FROM, -1)) };
}
