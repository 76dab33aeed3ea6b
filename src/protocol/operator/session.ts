import { z } from 'zod';
import { END_REASONS, type EndReason } from '../../../machines/voice-session/end-reasons.ts';
import { metadata } from '../create.ts';
import { caller, endReasonOrNull, sessionName, sessionReply, sessionState, sessionView } from '../session.ts';
import { commaList, count, instant, instantAsked, text } from '../values.ts';
import { auditRow } from './audit.ts';
import { operatorCall } from './call.ts';
import { operatorEvent } from './event.ts';
import { operatorRefusal } from './refusal.ts';
import { used } from './usage.ts';
import { page, pageAsked } from './page.ts';

/** What the clock alone does to a session next. */
export const sessionDeadline = z.object({ at: instant, to: sessionState, reason: endReasonOrNull }).nullable().meta({
  description: 'When the clock alone changes it next, into which state, and for which reason where that ends it',
});

/** A session as lists show it to operators. */
export const operatorSession = z.object({
  id: z.string(),
  ref: z
    .string()
    .meta({ description: 'The first 42 characters of the id, as the log has them: names it, and proves nothing' }),
  state: sessionState,
  caller,
  emailHash: z.string(),
  tenantId: z.string(),
  agentId: z.string().nullable(),
  keyId: z.string().nullable(),
  provider: z.string(),
  upstreamId: z.string(),
  endedAt: z.iso.datetime().nullable(),
  endReason: endReasonOrNull,
  deadline: sessionDeadline,
  session: sessionView,
  usage: used.meta({ description: 'What it has used in all' }),
});

export type OperatorSession = z.infer<typeof operatorSession>;

/** A session by itself: what a list shows, and more. */
export const operatorSessionDetail = operatorSession.extend({
  nextDeadline: z.iso.datetime().nullable(),
  endedBy: z
    .object({
      actor: z
        .string()
        .meta({ description: "An operator's e-mail address, or `service:` and what tells one token from another" }),
      reason: z.string().nullable(),
      at: z.iso.datetime(),
      requestId: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'Who ended it, where an operator did' }),
  why: z
    .object({ sentence: z.string(), facts: z.array(z.string()) })
    .meta({ description: 'Why it ended, or that it is still open, and what else is worth seeing; times in UTC' }),
  mayWhisper: z
    .boolean()
    .meta({ description: 'Whether who asks may whisper to its agent now: an open call takes the words' }),
  audit: z.array(auditRow).meta({ description: 'What operators did to it, newest first, at most 5' }),
  refusals: z.array(operatorRefusal).meta({
    description: 'What its subject was refused from its begin to a minute after its end, newest first, at most 5',
  }),
  limits: z.record(z.string(), z.object({ value: z.number(), setBy: z.string() })).meta({
    description:
      'What limits it and its caller now, each with the variable that sets it, or the field of its widget key',
  }),
  metadata: metadata.nullable(),
  hasContext: z.boolean().meta({
    description: 'Whether its back end handed something on to the servers of its tools, which nobody is shown',
  }),
  agentVersion: z.string().nullable().meta({
    description: 'Which definition its agent had: the same 12 hex digits for the same one; null where that is not kept',
  }),
  calls: z.array(operatorCall).meta({ description: 'Its calls at the provider that the service opened, newest first' }),
  events: z.array(operatorEvent).meta({ description: 'What its machine did, newest first, at most 200' }),
  moreEvents: z.boolean().meta({ description: 'Whether there are older ones' }),
  lost: z.array(z.object({ node: z.string().nullable(), from: z.iso.datetime(), to: z.iso.datetime(), count })).meta({
    description:
      'Times in its life in which some node had no room for events, of whatever session; which one is null for who is shown some tenants only',
  }),
});

export type LimitsInForce = z.infer<typeof operatorSessionDetail>['limits'];

export type EndedBy = z.infer<typeof operatorSessionDetail>['endedBy'];

/** By what sessions are chosen, in lists and to be ended. */
const chosenBy = {
  tenantId: text(128).optional(),
  agentId: text(128).optional(),
  keyId: text(200).optional(),
  caller: caller.optional(),
  subject: z
    .string()
    .regex(/^[0-9a-f]{32}$/, 'must be the emailHash of a session')
    .optional()
    .meta({ description: 'The sessions of one subject: `emailHash` of a session, `id` of a row of usage by subject' }),
};

/** Reasons of ends; a process of a later version may know one that this one does not. */
const reasonsAsked = z
  .string()
  .regex(/^[a-z_]{1,64}(?:,[a-z_]{1,64}){0,31}$/, 'must be one or more names of reasons, separated by commas')
  .transform((text) => text.split(',') as EndReason[])
  .meta({
    description: `One or more of ${Object.keys(END_REASONS).join(', ')}, separated by commas; later versions may have more`,
  });

export const sessionFilters = z.object({
  state: commaList(Object.values(sessionState.enum)).optional(),
  ...chosenBy,
  reason: reasonsAsked.optional(),
  from: instantAsked.optional(),
  to: instantAsked.optional(),
  endingWithinSec: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .optional()
    .meta({ description: 'Only those that the clock ends within so many seconds, the next one first' }),
  q: z
    .string()
    .refine((name) => !name.includes('@'), {
      error: 'must be the id of a session, or its ref; an address is looked for by POST /api/operator/search',
      abort: true,
    })
    .regex(sessionName, 'must be the id of a session, or its ref')
    .optional()
    .meta({ description: 'The id of a session, or its ref' }),
  sort: z.enum(['-startedAt', 'startedAt', '-endedAt', 'deadline']).optional(),
  ...pageAsked,
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
  filter: endFilter.meta({ description: 'As in the list of sessions; only open ones are ended' }),
  all: z.boolean().optional().meta({ description: 'Needed with an empty filter' }),
  dryRun: z.boolean().optional().meta({ description: 'true counts and ends nothing' }),
  expected: count.optional().meta({ description: 'What was counted; needed unless it is a dry run' }),
  reason: z.string().max(500).optional(),
  batchId: z
    .string()
    .regex(/^batch_[\w-]{22}$/, 'must be the batchId of an earlier answer')
    .optional()
    .meta({ description: 'Of the answer before, when what remained is ended' }),
});

const endedMany = z.object({
  ended: count,
  failed: count,
  remaining: count,
  batchId: z.string(),
  isAudited: z.boolean().meta({ description: 'Whether the audit has what came of it; its rows were there before' }),
});

const countedMany = z.object({
  matched: count,
  byState: z.object({ engaged: count, idle: count, stale: count }),
  byTenant: z.record(z.string(), count),
  sample: z.array(operatorSession),
  expected: count,
});

export const operatorEndManyReply = z.union([endedMany, countedMany]);

export const operatorSessionPage = z.object({
  sessions: z.array(operatorSession),
  ...page,
});

export const operatorEndRequest = z.strictObject({ reason: z.string().max(500).optional() });

export const whisperRequest = z.strictObject({
  text: z
    .string()
    .max(1000)
    .refine((value) => value.trim() !== '', 'must not be empty')
    .meta({ description: 'For the agent alone; no response comes of it', minLength: 1 }),
});

export const whisperReply = z.object({ ok: z.literal(true) });

export const operatorEndReply = sessionReply.extend({
  alreadyEnded: z.boolean().meta({ description: 'Whether it had ended before, or by the clock' }),
});
