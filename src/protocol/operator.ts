import { z } from 'zod';
import { CLOSE_REASONS, type CloseReason } from '../../machines/voice-call/close-reasons.ts';
import type { CallState, Hangup } from '../../machines/voice-call/types.ts';
import { metadata } from './create.ts';
import { caller, endReasonOrNull, sessionName, sessionState, sessionView } from './session.ts';
import { text } from './values.ts';

const count = z.int().min(0);

/** GET /api/operator/overview: how many sessions there are (docs/contract.md, section 8). */
export const overview = z.object({
  byState: z.object({ engaged: count, idle: count, stale: count, ended: count }),
  byCaller: z.object({ widget: count, console: count }),
  byTenant: z.record(z.string(), count),
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
  session: sessionView,
});

export type OperatorSession = z.infer<typeof operatorSession>;

const tokensByClass = z.object({
  textIn: count,
  textCached: count,
  textOut: count,
  audioIn: count,
  audioCached: count,
  audioOut: count,
  imageIn: count,
  imageCached: count,
});

/** A call at the provider, as operators see it (docs/contract.md, section 5.10). */
export const operatorCall = z.object({
  ref: z.string(),
  provider: z.string(),
  model: z.string(),
  state: z.enum(['creating', 'open', 'closing', 'closed'] satisfies CallState[]),
  providerCallId: z
    .string()
    .nullable()
    .meta({ description: "What the provider's support asks for; null until it has answered" }),
  openedAt: z.iso.datetime().nullable(),
  closedAt: z.iso.datetime().nullable(),
  closeReason: z.enum(Object.keys(CLOSE_REASONS) as CloseReason[]).nullable(),
  hangup: z
    .enum(['none', 'asked', 'confirmed', 'already_over', 'unconfirmed'] satisfies Hangup[])
    .meta({ description: '`unconfirmed`: given up, see whether the provider still bills the call' }),
  hangupTries: count,
  basis: z
    .enum(['events', 'clock', 'reported'])
    .nullable()
    .meta({ description: 'How its usage is known; null while there is none' }),
  tokens: tokensByClass,
  microDollars: count,
  estimatedMicroDollars: count.meta({ description: 'What of microDollars stands on estimates' }),
  gapSec: count.meta({ description: 'Seconds in which nobody here heard it' }),
  ownerNode: z.string().meta({ description: 'The process that holds it, or held it last' }),
});

export type OperatorCall = z.infer<typeof operatorCall>;

/** What kind of event it was, whatever the machine; one that `stayed` left the state as it was. */
const eventKind = z.enum(['started', 'moved', 'stayed', 'ended']);

export type ActorEventKind = z.infer<typeof eventKind>;

/** What a machine did with one event (docs/contract.md, section 8). */
export const operatorEvent = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  kind: eventKind,
  event: z.string().meta({ description: 'The event that the machine was sent' }),
  from: z.string().nullable().meta({ description: 'The state before; null where the event opened it' }),
  to: z.string(),
  steps: z
    .array(
      z.object({
        event: z.string().meta({ description: 'Empty where the step follows from the one before' }),
        from: z.string(),
        to: z.string(),
        guard: z.string().nullable(),
        actions: z.array(z.string()),
      }),
    )
    .meta({ description: 'The transitions it took, by the paths of the states' }),
  guards: z
    .array(z.object({ name: z.string(), passed: z.boolean() }))
    .meta({ description: 'The guards in the order in which they were asked' }),
  record: z
    .object({
      version: count,
      lastSeenAt: z.iso.datetime().nullable(),
      lastActivityAt: z.iso.datetime().nullable(),
      settledAt: z.iso.datetime().nullable(),
    })
    .meta({ description: 'The record after it' }),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  node: z.string(),
  requestId: z.string().nullable(),
});

export type OperatorEvent = z.infer<typeof operatorEvent>;

export const operatorEventPage = z.object({
  events: z.array(operatorEvent),
  nextCursor: z.string().nullable(),
});

/** What GET /api/operator/sessions/{id}/events may be asked. */
export const pageOfEvents = z.object({
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** A session by itself: what a list shows, and more. */
export const operatorSessionDetail = operatorSession.extend({
  nextDeadline: z.iso.datetime().nullable(),
  endedBy: z
    .object({
      actor: z.string().meta({ description: "An operator's e-mail address, or `service`" }),
      reason: z.string().nullable(),
      at: z.iso.datetime(),
      requestId: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'Who ended it, where an operator did' }),
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
