import { z } from 'zod';
import { END_REASONS, type EndReason, type RequestedEnd } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { optionalEmail } from './email.ts';
import { sessionIdExample, instant, integer, ok, frameType } from './fields.ts';

/** The states of a voice session on the wire; the names are the machine's. */
export const sessionState = z
  .enum({
    engaged: 'engaged',
    idle: 'idle',
    stale: 'stale',
    ended: 'ended',
  } satisfies { readonly [S in VoiceState]: S })
  .describe(
    '`engaged`: the session is in use; `idle`: nobody spoke for too long, and the next heartbeat ends it; `stale`: the same, for much longer; `ended` is final',
  );

export type SessionState = z.infer<typeof sessionState>;

export const caller = z
  .enum({ widget: 'widget', console: 'console' } satisfies { readonly [C in VoiceRecord['caller']]: C })
  .describe('Who opened the session: a page with a widget key, or a console user');

export type { EndReason, RequestedEnd };

const endReasons = Object.keys(END_REASONS) as EndReason[];

const reasonsKnown = {
  description: `Why the session ended: one of ${endReasons.join(', ')}; more may be added`,
  examples: endReasons,
};

/** Why a session ended. It is a text and not an enum: reasons will be added, and clients must accept those that they do not know. */
export const endReason = z.string().meta(reasonsKnown);

/** The same, or null for a session that has not ended. */
export const endReasonOrNull = z
  .string()
  .nullable()
  .meta({ ...reasonsKnown, description: `${reasonsKnown.description}; null while it is open` });

/** A voice session's name: its whole id, or its ref. */
export const sessionName = /^s:[0-9a-f]{32}:(?:[A-Za-z0-9_-]{7}|[A-Za-z0-9_-]{22})$/;

/** A session as its client sees it (docs/contract.md, section 5.3). */
export const sessionView = z
  .object({
    active: z.boolean().describe('Whether the session is open'),
    startedAt: instant.describe('When the session was opened'),
    lastSeenAt: instant.describe('When the last heartbeat arrived'),
    durationSec: integer('seconds', 90, 'How long the session has lasted, until its end if it has ended'),
    idleSec: integer('seconds', 0, 'How long there has been no activity, until its end if it has ended'),
    endsAt: instant
      .optional()
      .describe(
        'Only while a new visitor has said nothing yet (newVisitorSeconds of the key): when the session ends unless they speak',
      ),
  })
  .describe('The state of the session at the server');

export type SessionView = Readonly<z.infer<typeof sessionView>>;

/** The limits at which a session ends by itself. */
export const sessionLimits = z
  .object({
    maxMinutes: integer('minutes', 15, 'The longest duration of the session'),
    maxIdleSec: integer('seconds', 300, 'How long without activity until the session goes idle'),
    newVisitorSeconds: integer(
      'seconds',
      60,
      'Only while a new visitor has said nothing yet: how long after its start the session ends unless they speak',
    ).optional(),
  })
  .describe('The limits at which the session ends by itself');

export type SessionLimits = Readonly<z.infer<typeof sessionLimits>>;

/** What proves that a caller may act for a session: its id, and its user's address if it has one. */
export const sessionProof = z.object({
  sm_session_id: z
    .string()
    .max(128)
    .meta({
      description: 'The `sm_session_id` from the reply to the create: `s:<email_hash>:<session_id>`',
      examples: [sessionIdExample],
    }),
  email: optionalEmail,
});

export type SessionProof = Readonly<z.infer<typeof sessionProof>>;

/** The reply to a heartbeat and to ending a session. */
export const sessionReply = z.object({ ok, session: sessionView });

/** A visitor's rating of a conversation (docs/contract.md, section 5.18). */
export const rating = integer('none', 5, 'From 1 (bad) to 5 (good)').min(1).max(5);

/** The body of POST /api/realtime/rate. */
export const ratedSession = sessionProof.extend({ value: rating });

/** The frame that sends the same over a socket. */
export const rateFrame = z.object({ type: frameType('rate'), value: rating });

/** Seconds since somebody last spoke, as far as the client knows. If the client does not send it, the heartbeat itself counts as activity. */
export const idleSec = integer(
  'seconds',
  0,
  'How long nobody has spoken, according to the client; if left out, the heartbeat itself counts as activity',
)
  .min(0)
  .optional();

/** The body of POST /api/realtime/heartbeat (docs/contract.md, section 5.6). */
export const heartbeatRequest = sessionProof.extend({ idleSec });

export type HeartbeatRequest = Readonly<z.infer<typeof heartbeatRequest>>;

/** How often a client should send a heartbeat. */
export const heartbeatInterval = z.object({
  intervalSec: integer('seconds', 45, 'How often clients send a heartbeat'),
});
