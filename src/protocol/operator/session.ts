import { z } from 'zod';
import { END_REASONS, type EndReason } from '../../../machines/voice-session/end-reasons.ts';
import { metadata } from '../create.ts';
import { rating } from '../rating.ts';
import { caller, endReasonOrNull, sessionName, sessionReply, sessionState, sessionView } from '../session.ts';
import {
  agentAsked,
  agentId,
  auditReason,
  actor as actorField,
  keyAsked,
  keyId,
  nodeId,
  provider,
  requestId,
  sessionIdExample,
  sessionRef,
  subject,
  tenantAsked,
  tenantId,
} from '../fields.ts';
import { commaList, count, inUnit, instant, instantAsked, ok } from '../values.ts';
import { auditRow } from './audit.ts';
import { operatorCall } from './call.ts';
import { operatorEvent } from './event.ts';
import { operatorRefusal } from './refusal.ts';
import { used } from './usage.ts';
import { page, pageAsked } from './page.ts';

/** The next change of a session that the clock alone causes. */
export const sessionDeadline = z
  .object({
    at: instant.meta({ description: 'When the clock changes the session' }),
    to: sessionState.meta({ description: 'The state that it then enters' }),
    reason: endReasonOrNull.meta({ description: 'Why it ends then; null if it does not end' }),
  })
  .nullable()
  .meta({
    description:
      'When the clock alone will next change the session, into which state, and for which reason if that ends it; null once it has ended',
  });

/** How many sessions there are, by state. */
export const countsByState = z.object({
  engaged: count.meta({ description: 'Sessions in use' }),
  idle: count.meta({ description: 'Sessions in which nobody spoke for too long' }),
  stale: count.meta({ description: 'Sessions in which nobody spoke for very long' }),
  ended: count.meta({ description: 'Sessions that have ended' }),
});

/** A session as operators see it in lists. */
export const operatorSession = z.object({
  id: z.string().meta({
    description: 'The `sm_session_id`, whose holder can act for the session; the ref if you may not see whole ids',
    examples: [sessionIdExample],
  }),
  ref: sessionRef,
  state: sessionState,
  caller,
  emailHash: subject,
  tenantId,
  agentId: agentId.nullable().meta({ description: 'Its agent; null if it has none' }),
  keyId: keyId.nullable().meta({ description: 'Its widget key; null for console callers' }),
  provider,
  upstreamId: z.string().meta({
    description: 'The `id` from the reply to its create: in direct sessions the provider’s id',
    examples: ['sess_C9CwUVUzUzYIssh3ELY1d'],
  }),
  endedAt: instant.nullable().meta({ description: 'When it ended; null while it is open' }),
  endReason: endReasonOrNull,
  deadline: sessionDeadline,
  session: sessionView,
  usage: used.meta({ description: 'Total usage of the session' }),
});

export type OperatorSession = z.infer<typeof operatorSession>;

/** One session in full: what lists show, and more. */
export const operatorSessionDetail = operatorSession.extend({
  nextDeadline: instant.nullable().meta({ description: 'When the clock will next change it; null once it has ended' }),
  endedBy: z
    .object({
      actor: actorField,
      reason: z
        .string()
        .nullable()
        .meta({
          description: 'The reason given; null if none',
          examples: ['the visitor asked us to'],
        }),
      at: instant.meta({ description: 'When they ended it' }),
      requestId: requestId.nullable().meta({ description: 'The request that ended it; null if none did' }),
    })
    .nullable()
    .meta({ description: 'Who ended it, if an operator did; otherwise null' }),
  why: z
    .object({
      sentence: z.string().meta({
        description: 'Why it ended, or that it is still open, with the figures and the variables that set them',
        examples: ['The client ended it, 4 min after its start.'],
      }),
      facts: z.array(z.string()).meta({
        description: 'Other notable facts',
        examples: [['The client was silent for 2 min before the end.']],
      }),
    })
    .meta({ description: 'Why it ended, or that it is still open, and other notable facts; times in UTC' }),
  mayWhisper: z.boolean().meta({
    description: 'Whether a whisper from you would be tried now: you may whisper, and an open call accepts it',
  }),
  audit: z.array(auditRow).meta({ description: 'What operators did to it, newest first, at most 5' }),
  refusals: z.array(operatorRefusal).meta({
    description: 'Refusals of its subject from its start to a minute after its end, newest first, at most 5',
  }),
  limits: z
    .record(
      z.string(),
      z.object({
        value: z.number().meta({ description: 'The limit, in the unit that its name says', ...inUnit('varies', 15) }),
        setBy: z.string().meta({
          description: 'The variable, or the field of the widget key, that sets it',
          examples: ['MAX_SESSION_MINUTES'],
        }),
      }),
    )
    .meta({
      description:
        'The limits that apply to it and its caller now, each with the variable, or the field of its widget key, that sets it',
    }),
  metadata: metadata.nullable().meta({ description: 'The creator’s notes; null if there are none' }),
  hasContext: z.boolean().meta({
    description: 'Whether a back end gave it a `context` for the servers of its tools, which nobody is shown',
  }),
  agentVersion: z
    .string()
    .nullable()
    .meta({
      description:
        'The version of its agent’s definition: 12 hex digits, the same for the same one; null if not stored',
      examples: ['4f1c0e8b7d2a'],
    }),
  rating: rating
    .nullable()
    .meta({ description: 'The visitor’s rating, from 1 (bad) to 5 (good); null if there is none' }),
  calls: z.array(operatorCall).meta({ description: 'Its calls at the provider that Switchboard opened, newest first' }),
  events: z.array(operatorEvent).meta({ description: 'What its machine did, newest first, at most 200' }),
  moreEvents: z.boolean().meta({ description: 'Whether there are older events' }),
  lost: z
    .array(
      z.object({
        node: nodeId.nullable().meta({ description: 'The process; null for users limited to some tenants' }),
        from: instant.meta({ description: 'When it began to drop events' }),
        to: instant.meta({ description: 'When it stopped dropping events' }),
        count: count.meta({ description: 'How many events it dropped' }),
      }),
    )
    .meta({ description: 'Periods of the session in which a process dropped events, of any session' }),
});

export type LimitsInForce = z.infer<typeof operatorSessionDetail>['limits'];

export type EndedBy = z.infer<typeof operatorSessionDetail>['endedBy'];

/** Filters that choose sessions, both for lists and for ending them. */
const chosenBy = {
  tenantId: tenantAsked.optional(),
  agentId: agentAsked.optional(),
  keyId: keyAsked.optional(),
  caller: caller.optional().meta({ description: 'Only sessions opened by pages, or by console users' }),
  subject: z
    .string()
    .regex(/^[0-9a-f]{32}$/, 'must be the emailHash of a session')
    .optional()
    .meta({
      ...subject.meta(),
      description: 'Only sessions of this subject: `emailHash` of a session, or `id` of a row of usage by subject',
    }),
};

/** End reasons to filter by. Unknown ones are accepted: a process of a later version may know them. */
const reasonsAsked = z
  .string()
  .regex(/^[a-z_]{1,64}(?:,[a-z_]{1,64}){0,31}$/, 'must be one or more names of reasons, separated by commas')
  .meta({ examples: ['idle_exceeded,abandoned'] })
  .transform((text) => text.split(',') as EndReason[])
  .meta({
    description: `Only sessions that ended for one of these reasons, separated by commas: ${Object.keys(END_REASONS).join(', ')}; later versions may add more`,
  });

export const sessionFilters = z.object({
  state: commaList(Object.values(sessionState.enum)).optional(),
  ...chosenBy,
  reason: reasonsAsked.optional(),
  from: instantAsked.optional().meta({ description: 'Only sessions opened at or after this time' }),
  to: instantAsked.optional().meta({ description: 'Only sessions opened before this time' }),
  endingWithinSec: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .optional()
    .meta({
      description: 'Only sessions that the clock will end within this time, the next one first',
      ...inUnit('seconds', 60),
    }),
  q: z
    .string()
    .refine((name) => !name.includes('@'), {
      error: 'must be the id of a session, or its ref; an address is looked for by POST /api/operator/search',
      abort: true,
    })
    .regex(sessionName, 'must be the id of a session, or its ref')
    .optional()
    .meta({ ...sessionRef.meta(), description: 'Only the session with this id or ref' }),
  sort: z.enum(['-startedAt', 'startedAt', '-endedAt', 'deadline']).optional().meta({
    description:
      'The order: newest first (`-startedAt`, the default), oldest first, last ended first, or, with endingWithinSec, next to end first',
  }),
  ...pageAsked,
});

const batchId = z.string().meta({
  description: 'Identifies everything that is ended together: send it again to end what remains',
  examples: ['batch_kX2vQ9mB4tYw7nLcR1sZ0A'],
});

/** Which sessions POST /api/operator/sessions/end ends. Unknown fields are refused, because a typing error must not end more sessions. */
const endFilter = z.strictObject({
  ...sessionFilters.pick({
    state: true,
    tenantId: true,
    agentId: true,
    keyId: true,
    caller: true,
    subject: true,
    from: true,
    to: true,
    q: true,
  }).shape,
});

export const operatorEndManyRequest = z.strictObject({
  filter: endFilter.meta({ description: 'Which sessions, as in the list of sessions; only open ones are ended' }),
  all: z.boolean().optional().meta({ description: 'Whether to end all open sessions: required with an empty filter' }),
  dryRun: z.boolean().optional().meta({ description: 'Only count them, and end none' }),
  expected: count.optional().meta({ description: 'The number counted before; required unless it is a dry run' }),
  reason: auditReason,
  batchId: z
    .string()
    .regex(/^batch_[\w-]{22}$/, 'must be the batchId of an earlier answer')
    .optional()
    .meta({
      ...batchId.meta(),
      description: 'The `batchId` of the previous reply, to end what remained',
    }),
});

const endedMany = z.object({
  ended: count.meta({ description: 'Sessions that this request ended' }),
  failed: count.meta({ description: 'Sessions that could not be ended' }),
  remaining: count.meta({ description: 'Sessions still to be ended: send the request again' }),
  batchId,
  isAudited: z.boolean().meta({ description: 'Whether the audit has the results; its rows were written beforehand' }),
});

const countedMany = z.object({
  matched: count.meta({ description: 'Open sessions that match' }),
  byState: countsByState.omit({ ended: true }).meta({ description: 'These sessions by state' }),
  byTenant: z.record(z.string(), count).meta({ description: 'These sessions by tenant id' }),
  sample: z.array(operatorSession).meta({ description: 'Some of these sessions' }),
  expected: count.meta({ description: 'The value to send as `expected` to end them' }),
});

export const operatorEndManyReply = z.union([endedMany, countedMany]);

export const operatorSessionPage = z.object({
  sessions: z.array(operatorSession).meta({ description: 'The sessions, in the requested order' }),
  ...page,
});

export const operatorEndRequest = z.strictObject({ reason: auditReason });

export const whisperRequest = z.strictObject({
  text: z
    .string()
    .max(1000)
    .refine((value) => value.trim() !== '', 'must not be empty')
    .meta({
      description: 'What to tell the agent, and nobody else; the agent does not respond to it',
      examples: ['This visitor is a member: their entry is free.'],
      minLength: 1,
    }),
});

export const whisperReply = z.object({ ok });

export const operatorEndReply = sessionReply.extend({
  alreadyEnded: z.boolean().meta({ description: 'Whether it had already ended, also by the clock' }),
});
