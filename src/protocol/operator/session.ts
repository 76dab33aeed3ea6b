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

/** What the clock alone does to a session next. */
export const sessionDeadline = z
  .object({
    at: instant.meta({ description: 'When the clock changes it' }),
    to: sessionState.meta({ description: 'The state that it is in then' }),
    reason: endReasonOrNull.meta({ description: 'Why it ends then; null where that does not end it' }),
  })
  .nullable()
  .meta({
    description:
      'When the clock alone changes it next, into which state, and for which reason where that ends it; null once it has ended',
  });

/** How many sessions there are, by state. */
export const countsByState = z.object({
  engaged: count.meta({ description: 'Sessions that go on' }),
  idle: count.meta({ description: 'Sessions in which nobody spoke for too long' }),
  stale: count.meta({ description: 'Sessions in which nobody spoke for very long' }),
  ended: count.meta({ description: 'Sessions that are over' }),
});

/** A session as lists show it to operators. */
export const operatorSession = z.object({
  id: z.string().meta({
    description: 'The `sm_session_id`, by which its caller acts for it; its ref for who is shown no whole ids',
    examples: [sessionIdExample],
  }),
  ref: sessionRef,
  state: sessionState,
  caller,
  emailHash: subject,
  tenantId,
  agentId: agentId.nullable().meta({ description: 'Its agent; null where it has none' }),
  keyId: keyId.nullable().meta({ description: 'Its widget key; null for one of a console caller' }),
  provider,
  upstreamId: z.string().meta({
    description: 'The `id` that its create was answered with: of direct sessions the provider’s name of it',
    examples: ['sess_C9CwUVUzUzYIssh3ELY1d'],
  }),
  endedAt: instant.nullable().meta({ description: 'When it ended; null while it goes on' }),
  endReason: endReasonOrNull,
  deadline: sessionDeadline,
  session: sessionView,
  usage: used.meta({ description: 'What it has used in all' }),
});

export type OperatorSession = z.infer<typeof operatorSession>;

/** A session by itself: what a list shows, and more. */
export const operatorSessionDetail = operatorSession.extend({
  nextDeadline: instant.nullable().meta({ description: 'When the clock changes it next; null once it has ended' }),
  endedBy: z
    .object({
      actor: actorField,
      reason: z
        .string()
        .nullable()
        .meta({
          description: 'Why, as they said; null where they said nothing',
          examples: ['the visitor asked us to'],
        }),
      at: instant.meta({ description: 'When they ended it' }),
      requestId: requestId.nullable().meta({ description: 'The request that ended it; null where none did' }),
    })
    .nullable()
    .meta({ description: 'Who ended it, where an operator did; else null' }),
  why: z
    .object({
      sentence: z.string().meta({
        description: 'Why it ended, or that it is open, with the figures and the variables that set them',
        examples: ['The client ended it, 4 min after its start.'],
      }),
      facts: z.array(z.string()).meta({
        description: 'What else is worth seeing',
        examples: [['The client was silent for 2 min before the end.']],
      }),
    })
    .meta({ description: 'Why it ended, or that it is still open, and what else is worth seeing; times in UTC' }),
  mayWhisper: z
    .boolean()
    .meta({ description: 'Whether who asks may whisper to its agent now: an open call takes the words' }),
  audit: z.array(auditRow).meta({ description: 'What operators did to it, newest first, at most 5' }),
  refusals: z.array(operatorRefusal).meta({
    description: 'What its subject was refused from its begin to a minute after its end, newest first, at most 5',
  }),
  limits: z
    .record(
      z.string(),
      z.object({
        value: z.number().meta({ description: 'The limit, in what its name says', ...inUnit('varies', 15) }),
        setBy: z.string().meta({
          description: 'The variable, or the field of the widget key, that sets it',
          examples: ['MAX_SESSION_MINUTES'],
        }),
      }),
    )
    .meta({
      description:
        'What limits it and its caller now, each with the variable that sets it, or the field of its widget key',
    }),
  metadata: metadata.nullable().meta({ description: 'Notes of whoever created it; null where there are none' }),
  hasContext: z.boolean().meta({
    description: 'Whether its back end handed something on to the servers of its tools, which nobody is shown',
  }),
  agentVersion: z
    .string()
    .nullable()
    .meta({
      description:
        'Which definition its agent had: the same 12 hex digits for the same one; null where that is not kept',
      examples: ['4f1c0e8b7d2a'],
    }),
  rating: rating
    .nullable()
    .meta({ description: 'How its visitor found it, from 1 (bad) to 5 (good); null where they did not say' }),
  calls: z.array(operatorCall).meta({ description: 'Its calls at the provider that the service opened, newest first' }),
  events: z.array(operatorEvent).meta({ description: 'What its machine did, newest first, at most 200' }),
  moreEvents: z.boolean().meta({ description: 'Whether there are older ones' }),
  lost: z
    .array(
      z.object({
        node: nodeId.nullable().meta({ description: 'The process; null for who is shown some tenants only' }),
        from: instant.meta({ description: 'Since when it had no room' }),
        to: instant.meta({ description: 'Until when' }),
        count: count.meta({ description: 'How many events it dropped' }),
      }),
    )
    .meta({ description: 'Times in its life in which some process had no room for events, of whatever session' }),
});

export type LimitsInForce = z.infer<typeof operatorSessionDetail>['limits'];

export type EndedBy = z.infer<typeof operatorSessionDetail>['endedBy'];

/** By what sessions are chosen, in lists and to be ended. */
const chosenBy = {
  tenantId: tenantAsked.optional(),
  agentId: agentAsked.optional(),
  keyId: keyAsked.optional(),
  caller: caller.optional().meta({ description: 'Only sessions that were opened by pages, or by people logged in' }),
  subject: z
    .string()
    .regex(/^[0-9a-f]{32}$/, 'must be the emailHash of a session')
    .optional()
    .meta({
      ...subject.meta(),
      description: 'Only sessions of this subject: `emailHash` of a session, `id` of a row of usage by subject',
    }),
};

/** Reasons of ends; a process of a later version may know one that this one does not. */
const reasonsAsked = z
  .string()
  .regex(/^[a-z_]{1,64}(?:,[a-z_]{1,64}){0,31}$/, 'must be one or more names of reasons, separated by commas')
  .meta({ examples: ['idle_exceeded,abandoned'] })
  .transform((text) => text.split(',') as EndReason[])
  .meta({
    description: `Only sessions that ended for one of these: some of ${Object.keys(END_REASONS).join(', ')}, separated by commas; later versions may have more`,
  });

export const sessionFilters = z.object({
  state: commaList(Object.values(sessionState.enum)).optional(),
  ...chosenBy,
  reason: reasonsAsked.optional(),
  from: instantAsked.optional().meta({ description: 'Only sessions that were opened then or later' }),
  to: instantAsked.optional().meta({ description: 'Only sessions that were opened before' }),
  endingWithinSec: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .optional()
    .meta({
      description: 'Only those that the clock ends within this time, the next one first',
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
      'Which come first: the newest (`-startedAt`, the default), the oldest, those that ended last, or, with endingWithinSec, those that end next',
  }),
  ...pageAsked,
});

const batchId = z.string().meta({
  description: 'Names all that is ended together: send it again to end what remains',
  examples: ['batch_kX2vQ9mB4tYw7nLcR1sZ0A'],
});

/** Which sessions POST /api/operator/sessions/end is to end. Fields that are not known are refused: what is mistyped must not end more. */
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
  filter: endFilter.meta({ description: 'Which sessions: as in the list of sessions; only open ones are ended' }),
  all: z.boolean().optional().meta({ description: 'Whether all open sessions are meant: needed with an empty filter' }),
  dryRun: z.boolean().optional().meta({ description: 'Whether they are only counted, and none is ended' }),
  expected: count.optional().meta({ description: 'How many were counted before; needed unless it is a dry run' }),
  reason: auditReason,
  batchId: z
    .string()
    .regex(/^batch_[\w-]{22}$/, 'must be the batchId of an earlier answer')
    .optional()
    .meta({
      ...batchId.meta(),
      description: 'The `batchId` of the answer before, when what remained is ended',
    }),
});

const endedMany = z.object({
  ended: count.meta({ description: 'Sessions that this request ended' }),
  failed: count.meta({ description: 'Sessions that could not be ended' }),
  remaining: count.meta({ description: 'Sessions that are still to be ended: send the request again' }),
  batchId,
  isAudited: z.boolean().meta({ description: 'Whether the audit has what came of it; its rows were there before' }),
});

const countedMany = z.object({
  matched: count.meta({ description: 'Open sessions that match' }),
  byState: countsByState.omit({ ended: true }).meta({ description: 'The same by state' }),
  byTenant: z.record(z.string(), count).meta({ description: 'The same by the id of the tenant' }),
  sample: z.array(operatorSession).meta({ description: 'Some of them' }),
  expected: count.meta({ description: 'What to send as `expected` to end them' }),
});

export const operatorEndManyReply = z.union([endedMany, countedMany]);

export const operatorSessionPage = z.object({
  sessions: z.array(operatorSession).meta({ description: 'The sessions, in the order that was asked for' }),
  ...page,
});

export const operatorEndRequest = z.strictObject({ reason: auditReason });

export const whisperRequest = z.strictObject({
  text: z
    .string()
    .max(1000)
    .refine((value) => value.trim() !== '', 'must not be empty')
    .meta({
      description: 'What the agent alone is told; no response comes of it',
      examples: ['This visitor is a member: their entry is free.'],
      minLength: 1,
    }),
});

export const whisperReply = z.object({ ok });

export const operatorEndReply = sessionReply.extend({
  alreadyEnded: z.boolean().meta({ description: 'Whether it had ended before, or by the clock' }),
});
