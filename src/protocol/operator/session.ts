import { z } from 'zod';
import { END_REASONS, type EndReason } from '../../../machines/voice-session/end-reasons.ts';
import { metadata } from '../create.ts';
import { rating, caller, endReasonOrNull, sessionName, sessionReply, sessionState, sessionView } from '../session.ts';
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
  commaList,
  count,
  instant,
  instantAsked,
  inUnit,
  number,
  string,
} from '../fields.ts';
import { auditRow } from './audit.ts';
import { operatorCall } from './call.ts';
import { operatorEvent } from './event.ts';
import { operatorRefusal } from './refusal.ts';
import { used } from './usage.ts';
import { page, pageAsked } from './pagination.ts';

/** The next change of a session that the clock alone causes. */
export const sessionDeadline = z
  .object({
    at: instant.describe('When the clock changes the session'),
    to: sessionState.describe('The state that it then enters'),
    reason: endReasonOrNull.describe('Why it ends then; null if it does not end'),
  })
  .nullable()
  .describe(
    'When the clock alone will next change the session, into which state, and for which reason if that ends it; null once it has ended',
  );

/** How many sessions there are, by state. */
export const countsByState = z.object({
  engaged: count.describe('Sessions in use'),
  idle: count.describe('Sessions in which nobody spoke for too long'),
  stale: count.describe('Sessions in which nobody spoke for very long'),
  ended: count.describe('Sessions that have ended'),
});

/** A session as operators see it in lists. */
export const operatorSession = z.object({
  id: string(
    'The `sm_session_id`, whose holder can act for the session; the ref if you may not see whole ids',
    sessionIdExample,
  ),
  ref: sessionRef,
  state: sessionState,
  caller,
  emailHash: subject,
  tenantId,
  agentId: agentId.nullable().describe('Its agent; null if it has none'),
  keyId: keyId.nullable().describe('Its widget key; null for console callers'),
  provider,
  upstreamId: string(
    'The `id` from the reply to its create: in direct sessions the provider’s id',
    'sess_C9CwUVUzUzYIssh3ELY1d',
  ),
  endedAt: instant.nullable().describe('When it ended; null while it is open'),
  endReason: endReasonOrNull,
  deadline: sessionDeadline,
  session: sessionView,
  usage: used.describe('Total usage of the session'),
});

export type OperatorSession = z.infer<typeof operatorSession>;

/** One session in full: what lists show, and more. */
export const operatorSessionDetail = operatorSession.extend({
  nextDeadline: instant.nullable().describe('When the clock will next change it; null once it has ended'),
  endedBy: z
    .object({
      actor: actorField,
      reason: string('The reason given; null if none', 'the visitor asked us to').nullable(),
      at: instant.describe('When they ended it'),
      requestId: requestId.nullable().describe('The request that ended it; null if none did'),
    })
    .nullable()
    .describe('Who ended it, if an operator did; otherwise null'),
  why: z
    .object({
      sentence: string(
        'Why it ended, or that it is still open, with the figures and the variables that set them',
        'The client ended it, 4 min after its start.',
      ),
      facts: z.array(z.string()).meta({
        description: 'Other notable facts',
        examples: [['The client was silent for 2 min before the end.']],
      }),
    })
    .describe('Why it ended, or that it is still open, and other notable facts; times in UTC'),
  mayWhisper: z
    .boolean()
    .describe('Whether a whisper from you would be tried now: you may whisper, and an open call accepts it'),
  audit: z.array(auditRow).describe('What operators did to it, newest first, at most 5'),
  refusals: z
    .array(operatorRefusal)
    .describe('Refusals of its subject from its start to a minute after its end, newest first, at most 5'),
  limits: z
    .record(
      z.string(),
      z.object({
        value: number('varies', 15, 'The limit, in the unit that its name says'),
        setBy: string('The variable, or the field of the widget key, that sets it', 'MAX_SESSION_MINUTES'),
      }),
    )
    .describe(
      'The limits that apply to it and its caller now, each with the variable, or the field of its widget key, that sets it',
    ),
  metadata: metadata.nullable().describe('The creator’s notes; null if there are none'),
  hasContext: z
    .boolean()
    .describe('Whether a back end gave it a `context` for the servers of its tools, which nobody is shown'),
  agentVersion: string(
    'The version of its agent’s definition: 12 hex digits, the same for the same one; null if not stored',
    '4f1c0e8b7d2a',
  ).nullable(),
  rating: rating.nullable().describe('The visitor’s rating, from 1 (bad) to 5 (good); null if there is none'),
  calls: z.array(operatorCall).describe('Its calls at the provider that Switchboard opened, newest first'),
  events: z.array(operatorEvent).describe('What its machine did, newest first, at most 200'),
  moreEvents: z.boolean().describe('Whether there are older events'),
  lost: z
    .array(
      z.object({
        node: nodeId.nullable().describe('The process; null for users limited to some tenants'),
        from: instant.describe('When it began to drop events'),
        to: instant.describe('When it stopped dropping events'),
        count: count.describe('How many events it dropped'),
      }),
    )
    .describe('Periods of the session in which a process dropped events, of any session'),
});

export type LimitsInForce = z.infer<typeof operatorSessionDetail>['limits'];

export type EndedBy = z.infer<typeof operatorSessionDetail>['endedBy'];

/** Filters that choose sessions, both for lists and for ending them. */
const chosenBy = {
  tenantId: tenantAsked.optional(),
  agentId: agentAsked.optional(),
  keyId: keyAsked.optional(),
  caller: caller.optional().describe('Only sessions opened by pages, or by console users'),
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
  .describe(
    `Only sessions that ended for one of these reasons, separated by commas: ${Object.keys(END_REASONS).join(', ')}; later versions may add more`,
  );

export const sessionFilters = z.object({
  state: commaList(Object.values(sessionState.enum)).optional(),
  ...chosenBy,
  reason: reasonsAsked.optional(),
  from: instantAsked.optional().describe('Only sessions opened at or after this time'),
  to: instantAsked.optional().describe('Only sessions opened before this time'),
  endingWithinSec: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .optional()
    .meta(inUnit('seconds', 60, 'Only sessions that the clock will end within this time, the next one first')),
  q: z
    .string()
    .refine((name) => !name.includes('@'), {
      error: 'must be the id of a session, or its ref; an address is looked for by POST /api/operator/search',
      abort: true,
    })
    .regex(sessionName, 'must be the id of a session, or its ref')
    .optional()
    .meta({ ...sessionRef.meta(), description: 'Only the session with this id or ref' }),
  sort: z
    .enum(['-startedAt', 'startedAt', '-endedAt', 'deadline'])
    .optional()
    .describe(
      'The order: newest first (`-startedAt`, the default), oldest first, last ended first, or, with endingWithinSec, next to end first',
    ),
  ...pageAsked,
});

const batchId = string(
  'Identifies everything that is ended together: send it again to end what remains',
  'batch_kX2vQ9mB4tYw7nLcR1sZ0A',
);

const { state, from, to, q } = sessionFilters.shape;
/** Which sessions POST /api/operator/sessions/end ends. Unknown fields are refused, because a typing error must not end more sessions. */
const endFilter = z.strictObject({ state, ...chosenBy, from, to, q });

export const operatorEndManyRequest = z.strictObject({
  filter: endFilter.describe('Which sessions, as in the list of sessions; only open ones are ended'),
  all: z.boolean().optional().describe('Whether to end all open sessions: required with an empty filter'),
  dryRun: z.boolean().optional().describe('Only count them, and end none'),
  expected: count.optional().describe('The number counted before; required unless it is a dry run'),
  reason: auditReason,
  batchId: z
    .string()
    .regex(/^batch_[\w-]{22}$/, 'must be the batchId of an earlier answer')
    .optional()
    .meta({ ...batchId.meta(), description: 'The `batchId` of the previous reply, to end what remained' }),
});

const endedMany = z.object({
  ended: count.describe('Sessions that this request ended'),
  failed: count.describe('Sessions that could not be ended'),
  remaining: count.describe('Sessions still to be ended: send the request again'),
  batchId,
  isAudited: z.boolean().describe('Whether the audit has the results; its rows were written beforehand'),
});

const countedMany = z.object({
  matched: count.describe('Open sessions that match'),
  byState: countsByState.omit({ ended: true }).describe('These sessions by state'),
  byTenant: z.record(z.string(), count).describe('These sessions by tenant id'),
  sample: z.array(operatorSession).describe('Some of these sessions'),
  expected: count.describe('The value to send as `expected` to end them'),
});

export const operatorEndManyReply = z.union([endedMany, countedMany]);

export const operatorSessionPage = z.object({
  sessions: z.array(operatorSession).describe('The sessions, in the requested order'),
  ...page,
});

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

export const operatorEndReply = sessionReply.extend({
  alreadyEnded: z.boolean().describe('Whether it had already ended, also by the clock'),
});
