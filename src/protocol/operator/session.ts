import { z } from 'zod';
import { metadata } from '../create.ts';
import { caller, endReasonOrNull, sessionName, sessionReply, sessionState, sessionView } from '../session.ts';
import { count, text } from '../values.ts';
import { auditRow } from './audit.ts';
import { operatorCall } from './call.ts';
import { operatorEvent } from './event.ts';

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
  session: sessionView,
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
  audit: z.array(auditRow).meta({ description: 'What operators did to it, newest first, at most 5' }),
  metadata: metadata.nullable(),
  calls: z.array(operatorCall).meta({ description: 'Its calls at the provider that the service opened, newest first' }),
  events: z.array(operatorEvent).meta({ description: 'What its machine did, newest first, at most 200' }),
  moreEvents: z.boolean().meta({ description: 'Whether there are older ones' }),
  lost: z
    .array(z.object({ node: z.string(), from: z.iso.datetime(), to: z.iso.datetime(), count }))
    .meta({ description: 'Times in its life in which some node had no room for events, of whatever session' }),
});

export type EndedBy = z.infer<typeof operatorSessionDetail>['endedBy'];

/** What GET /api/operator/sessions may be asked. */
export const sessionFilters = z.object({
  state: sessionState.optional(),
  tenantId: text(128).optional(),
  agentId: text(128).optional(),
  caller: caller.optional(),
  q: z
    .string()
    .regex(sessionName, 'must be the id of a session, or its ref')
    .optional()
    .meta({ description: 'The id of a session, or its ref' }),
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const operatorSessionPage = z.object({
  sessions: z.array(operatorSession),
  nextCursor: z.string().nullable(),
});

export const operatorEndRequest = z.object({ reason: z.string().max(500).optional() });

export const operatorEndReply = sessionReply.extend({
  alreadyEnded: z.boolean().meta({ description: 'Whether it had ended before, or by the clock' }),
});
