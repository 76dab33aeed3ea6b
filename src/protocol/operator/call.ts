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

/** Tokens by billing class. */
export const tokensByClass = z.object({
  textIn: tokens.meta({ description: 'Text that the model read, except what was cached' }),
  textCached: tokens.meta({ description: 'Text that the model read from its cache' }),
  textOut: tokens.meta({ description: 'Text that the model wrote' }),
  audioIn: tokens.meta({ description: 'Audio that the model heard, except what was cached' }),
  audioCached: tokens.meta({ description: 'Audio that the model heard from its cache' }),
  audioOut: tokens.meta({ description: 'Audio that the model spoke' }),
  imageIn: tokens.meta({ description: 'Images that the model saw, except what was cached' }),
  imageCached: tokens.meta({ description: 'Images that the model saw from its cache' }),
});

const callState = z.enum(STATES).meta({
  description:
    '`creating`: the provider has been asked to open it; `open`: it is in progress; `closing`: it is being hung up, and the provider has not confirmed the end; `closed`: it is over',
});

/** A call at the provider, as operators see it (docs/contract.md, section 5.10). */
export const operatorCall = z.object({
  ref: callRef,
  provider,
  model: model.meta({ description: 'The model in the call' }),
  state: callState,
  providerCallId: z
    .string()
    .nullable()
    .meta({
      description:
        'The provider’s id of the call, for its support; null until the provider has answered, and for viewers and admins of tenants',
      examples: ['rtc_u1_9c6574da8b8a41a18da9308f4ad974ce'],
    }),
  openedAt: instant.nullable().meta({ description: 'When it was opened; null until then' }),
  closingAt: instant
    .nullable()
    .meta({ description: 'When Switchboard began to close it, kept once it is closed; null if nobody closed it' }),
  overAt: instant.nullable().meta({
    description:
      'When the provider says that it ended. For a room that its page may reopen, when that is no longer possible, which may be in the future. Null if nobody says so',
  }),
  closedAt: instant.nullable().meta({ description: 'When it was closed; null until then' }),
  closeReason: z
    .enum(Object.keys(CLOSE_REASONS) as CloseReason[])
    .nullable()
    .meta({ description: 'Why it is closing or closed; null while it is open' }),
  hangup: z.enum(HANGUPS).meta({
    description: Object.entries(HANGUP_WORDS)
      .map(([name, words]) => `\`${name}\`: ${words}`)
      .join('; '),
  }),
  hangupTries: count.meta({ description: 'How often the provider was asked to hang it up' }),
  basis: z.enum(['events', 'clock', 'reported', 'tool']).nullable().meta({
    description:
      'The source of its usage: the provider’s `events`, the `clock`, a client that `reported` it, or a `tool` that costs; null while there is no usage',
  }),
  tokens: tokensByClass.meta({ description: 'Tokens used so far, by the classes that providers bill' }),
  microDollars: microDollars.meta({ description: 'The cost so far' }),
  estimatedMicroDollars: microDollars.meta({ description: 'The part of microDollars that is estimated' }),
  gapSec: seconds.meta({ description: 'How long no process of Switchboard heard the call' }),
  ownerNode: nodeId
    .nullable()
    .meta({ description: 'The process that holds the call, or held it last; null for users limited to some tenants' }),
});

export type OperatorCall = z.infer<typeof operatorCall>;

/** One call of a tool that Switchboard calls. Its arguments and its answer are not stored. */
const operatorToolCall = z.object({
  name: z.string().meta({ description: 'The name of the tool', examples: ['lookup_order'] }),
  state: z.enum(['asked', 'running', 'answered', 'failed', 'timed_out', 'dropped'] satisfies ToolCallState[]).meta({
    description: 'The state of the tool call; `dropped`: the call ended before the tool was answered',
  }),
  code: z
    .string()
    .nullable()
    .meta({ description: 'Why the model got no answer; null if it got one', examples: ['timed_out'] }),
  detail: z
    .string()
    .nullable()
    .meta({
      description: 'What went wrong, as far as Switchboard knows, without any text of the server; null if nothing did',
      examples: ['status 500'],
    }),
  endReason: z
    .string()
    .nullable()
    .meta({
      description: 'The reason for which the tool’s server ended the session, in its own words; null if it did not',
      examples: ['resolved'],
    }),
  askedAt: instant.meta({ description: 'When the model called the tool' }),
  ms: milliseconds
    .nullable()
    .meta({ description: 'How long it took from the model’s call to the end; null until then' }),
  tries: count.meta({ description: 'Requests sent to the tool’s server: none or one' }),
});

export type OperatorToolCall = z.infer<typeof operatorToolCall>;

const toolsTold = {
  tools: z.array(operatorToolCall).meta({ description: 'The server tools called during the call, in order' }),
};

/** One call with what its machine did and the tools that were called in it. */
export const operatorCallDetail = operatorCall.extend({ ...actorTold, ...toolsTold });

/** A call in the list of all calls, with its session and owner. */
export const listedCall = operatorCall.extend({
  session: sessionRef.meta({ description: 'The ref of its session' }),
  tenantId,
  keyId: keyId.nullable().meta({ description: 'The widget key of its session; null for console callers' }),
  agentId: agentId
    .nullable()
    .meta({ description: 'The agent of its session; null if it has none or is no longer stored' }),
  createdAt: instant.meta({ description: 'When the provider was asked to open it' }),
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

/** One call by its own ref: what the list shows, and what led to its state. */
export const listedCallDetail = listedCall.extend({
  ...actorTold,
  ...toolsTold,
  openResponses: count.nullable().meta({
    description:
      'Responses in progress; null while no process hears the call, or if the process that does so gives no answer within half a second',
  }),
  captions: z
    .boolean()
    .nullable()
    .meta({ description: 'Whether visitors’ speech is transcribed; null if no longer known' }),
  why: z
    .object({
      sentence: z.string().meta({
        description: 'The explanation in words, with times in UTC',
        examples: ['Still open, for 2 min since 12:00:00. Nobody here has heard it since 12:01:40.'],
      }),
    })
    .meta({ description: 'The state of the call, why it closed, and what is known of its hang-up' }),
});
