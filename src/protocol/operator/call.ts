import { z } from 'zod';
import { CLOSE_REASONS, type CloseReason } from '../../../machines/voice-call/close-reasons.ts';
import type { ToolCallState } from '../../../machines/tool-call/types.ts';
import type { CallState, Hangup } from '../../../machines/voice-call/types.ts';
import { HANGUP_WORDS } from '../languages/hangups.ts';
import {
  agentAsked,
  agentId,
  callRef,
  keyAsked,
  keyId,
  model,
  nodeId,
  provider,
  sessionRef,
  tenantAsked,
  tenantId,
} from '../fields.ts';
import { commaList, count, instant, microDollars, milliseconds, seconds, tokens } from '../values.ts';
import { actorTold } from './event.ts';
import { page, pageAsked } from './page.ts';

const STATES = ['creating', 'open', 'closing', 'closed'] as const satisfies CallState[];
const HANGUPS = Object.keys(HANGUP_WORDS) as Hangup[];

/** Tokens by the classes that providers bill. */
export const tokensByClass = z.object({
  textIn: tokens.meta({ description: 'Text that the model read, without what was cached' }),
  textCached: tokens.meta({ description: 'Text that it read from its cache' }),
  textOut: tokens.meta({ description: 'Text that it wrote' }),
  audioIn: tokens.meta({ description: 'Audio that it heard, without what was cached' }),
  audioCached: tokens.meta({ description: 'Audio that it heard from its cache' }),
  audioOut: tokens.meta({ description: 'Audio that it spoke' }),
  imageIn: tokens.meta({ description: 'Images that it saw, without what was cached' }),
  imageCached: tokens.meta({ description: 'Images that it saw from its cache' }),
});

const callState = z.enum(STATES).meta({
  description:
    '`creating`: the provider is asked for it; `open`: it goes on; `closing`: it is to be hung up, and the provider has not confirmed that it is over; `closed`: it is over',
});

/** A call at the provider, as operators see it (docs/contract.md, section 5.10). */
export const operatorCall = z.object({
  ref: callRef,
  provider,
  model: model.meta({ description: 'The model that speaks' }),
  state: callState,
  providerCallId: z
    .string()
    .nullable()
    .meta({
      description:
        "What the provider's support asks for; null until it has answered, and for viewers and admins of tenants",
      examples: ['rtc_u1_9c6574da8b8a41a18da9308f4ad974ce'],
    }),
  openedAt: instant.nullable().meta({ description: 'When it was opened; null until then' }),
  closingAt: instant
    .nullable()
    .meta({ description: 'Since when it is to be hung up, also once it is closed; null where nobody closed it' }),
  overAt: instant.nullable().meta({
    description:
      'Since when the provider says that it is over. Of a room that its page may open again it is when it no longer may, which may be still to come. Null where nobody says so',
  }),
  closedAt: instant.nullable().meta({ description: 'When it was over; null until then' }),
  closeReason: z
    .enum(Object.keys(CLOSE_REASONS) as CloseReason[])
    .nullable()
    .meta({ description: 'Why it closes or closed; null while it goes on' }),
  hangup: z.enum(HANGUPS).meta({
    description: Object.entries(HANGUP_WORDS)
      .map(([name, words]) => `\`${name}\`: ${words}`)
      .join('; '),
  }),
  hangupTries: count.meta({ description: 'How often the provider was asked to hang it up' }),
  basis: z.enum(['events', 'clock', 'reported', 'tool']).nullable().meta({
    description:
      'How its usage is known: by the provider’s `events`, by the `clock`, as a client `reported` it, or by a `tool` that costs; null while there is none',
  }),
  tokens: tokensByClass.meta({ description: 'What it has used so far, by the classes that providers bill' }),
  microDollars: microDollars.meta({ description: 'What it has cost so far' }),
  estimatedMicroDollars: microDollars.meta({ description: 'What of microDollars stands on estimates' }),
  gapSec: seconds.meta({ description: 'How long nobody here heard it' }),
  ownerNode: nodeId
    .nullable()
    .meta({ description: 'The process that holds it, or held it last; null for who is shown some tenants only' }),
});

export type OperatorCall = z.infer<typeof operatorCall>;

/** One call of a tool of the server; nobody keeps its arguments or its answer. */
const operatorToolCall = z.object({
  name: z.string().meta({ description: 'The name of the tool', examples: ['lookup_order'] }),
  state: z.enum(['asked', 'running', 'answered', 'failed', 'timed_out', 'dropped'] satisfies ToolCallState[]).meta({
    description: 'How far it is; `dropped`: its call was over before it was answered',
  }),
  code: z
    .string()
    .nullable()
    .meta({ description: 'Why the model was told no answer; null where it was told one', examples: ['timed_out'] }),
  detail: z
    .string()
    .nullable()
    .meta({
      description: 'What went wrong, as far as Switchboard knows; no words of the server. Null where nothing did',
      examples: ['status 500'],
    }),
  endReason: z
    .string()
    .nullable()
    .meta({
      description: 'Why its server ended the session, in its own word; null where it did not',
      examples: ['resolved'],
    }),
  askedAt: instant.meta({ description: 'When the model asked for it' }),
  ms: milliseconds.nullable().meta({ description: 'How long it took from its asking to its end; null until then' }),
  tries: count.meta({ description: 'Requests that were sent to its server: none or one' }),
});

export type OperatorToolCall = z.infer<typeof operatorToolCall>;

const toolsTold = {
  tools: z.array(operatorToolCall).meta({ description: 'Tools of the server that were called in it, in order' }),
};

/** One call, what its machine did, and the tools that were called in it. */
export const operatorCallDetail = operatorCall.extend({ ...actorTold, ...toolsTold });

/** A call in the list of all calls: with whose it is. */
export const listedCall = operatorCall.extend({
  session: sessionRef.meta({ description: "Its session's ref" }),
  tenantId,
  keyId: keyId.nullable().meta({ description: "Its session's widget key; null for one of a console caller" }),
  agentId: agentId.nullable().meta({ description: "Its session's; null where that has none, or is kept no more" }),
  createdAt: instant.meta({ description: 'When the provider was asked for it' }),
});

export type ListedOperatorCall = z.infer<typeof listedCall>;

export const callFilters = z.object({
  state: commaList(STATES).optional(),
  tenantId: tenantAsked.optional(),
  keyId: keyAsked.optional(),
  agentId: agentAsked.optional(),
  hangup: commaList(HANGUPS).optional(),
  ...pageAsked,
});

export const operatorCallPage = z.object({
  calls: z.array(listedCall).meta({ description: 'Calls of all sessions, newest first' }),
  ...page,
});

/** One call by its own ref: as the list has it, and why it is as it is. */
export const listedCallDetail = listedCall.extend({
  ...actorTold,
  ...toolsTold,
  openResponses: count.nullable().meta({
    description:
      'Responses that run; null where the process that answers does not know: only the one that holds a call does, while it hears it',
  }),
  captions: z
    .boolean()
    .nullable()
    .meta({ description: 'Whether what visitors say is written down; null where that is not known any more' }),
  why: z
    .object({
      sentence: z.string().meta({
        description: 'In words, with times in UTC',
        examples: ['Still open, for 2 min since 12:00:00. Nobody here has heard it since 12:01:40.'],
      }),
    })
    .meta({ description: 'How it stands, why it closed, and what is known of its hang-up' }),
});
