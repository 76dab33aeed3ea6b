import { z } from 'zod';
import { END_REASONS, type EndReason, type RequestedEnd } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { optionalEmail } from './email.ts';
import { instant, ok } from './values.ts';

/** The states of a voice session by their names on the wire, which are the machine's. */
export const sessionState = z.enum({
  engaged: 'engaged',
  idle: 'idle',
  stale: 'stale',
  ended: 'ended',
} satisfies { readonly [S in VoiceState]: S });

export type SessionState = z.infer<typeof sessionState>;

export const caller = z.enum({ widget: 'widget', console: 'console' } satisfies {
  readonly [C in VoiceRecord['caller']]: C;
});

export type { EndReason, RequestedEnd };

const endReasons = Object.keys(END_REASONS) as EndReason[];

const reasonsKnown = { description: `One of ${endReasons.join(', ')}; more may be added`, examples: endReasons };

/** Why a session ended. Clients must take reasons that they do not know, because reasons are added: a text, no enum. */
export const endReason = z.string().meta(reasonsKnown);

/** The same for a session that may go on: null. */
export const endReasonOrNull = z
  .string()
  .nullable()
  .meta({ ...reasonsKnown });

/** What names a voice session: its whole id, or its ref. */
export const sessionName = /^s:[0-9a-f]{32}:(?:[A-Za-z0-9_-]{7}|[A-Za-z0-9_-]{22})$/;

/** A session as its client sees it (docs/contract.md, section 5.3). */
export const sessionView = z.object({
  active: z.boolean(),
  startedAt: instant,
  lastSeenAt: instant,
  durationSec: z.int(),
  idleSec: z.int(),
  endsAt: instant.optional().meta({
    description:
      'Only while words of a new visitor are due (newVisitorSeconds of the key): it ends then unless some are heard',
  }),
});

export type SessionView = Readonly<z.infer<typeof sessionView>>;

/** What ends a session by itself. */
export const sessionLimits = z.object({
  maxMinutes: z.int(),
  maxIdleSec: z.int(),
  newVisitorSeconds: z.int().optional().meta({
    description: 'Only while words of a new visitor are due: it ends so long after its start unless some are heard',
  }),
});

export type SessionLimits = Readonly<z.infer<typeof sessionLimits>>;

/** What proves that a caller speaks for a session: its id, and the address of its user where there is one. */
export const sessionProof = z.object({
  sm_session_id: z
    .string()
    .max(128)
    .meta({ description: 'sm_session_id as the create reply gave it: s:<email_hash>:<session_id>' }),
  email: optionalEmail,
});

export type SessionProof = Readonly<z.infer<typeof sessionProof>>;

/** The reply to a heartbeat and to an end. */
export const sessionReply = z.object({ ok, session: sessionView });
