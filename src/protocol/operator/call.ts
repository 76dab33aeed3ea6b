import { z } from 'zod';
import { CLOSE_REASONS, type CloseReason } from '../../../machines/voice-call/close-reasons.ts';
import type { ToolCallState } from '../../../machines/tool-call/types.ts';
import type { CallState, Hangup } from '../../../machines/voice-call/types.ts';
import { HANGUP_WORDS } from './hangup.ts';
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
  commaList,
  count,
  instant,
  microDollars,
  milliseconds,
  seconds,
  string,
  tokens,
} from '../fields.ts';
import { actorTold } from './event.ts';
import { page, pageAsked } from './pagination.ts';

const STATES = ['creating', 'open', 'closing', 'closed'] as const satisfies CallState[];
const HANGUPS = Object.keys(HANGUP_WORDS) as Hangup[];

/** Tokens by billing class. */
export const tokensByClass = z.object({
  textIn: tokens.describe('Text that the model read, except what was cached'),
  textCached: tokens.describe('Text that the model read from its cache'),
  textOut: tokens.describe('Text that the model wrote'),
  audioIn: tokens.describe('Audio that the model heard, except what was cached'),
  audioCached: tokens.describe('Audio that the model heard from its cache'),
  audioOut: tokens.describe('Audio that the model spoke'),
  imageIn: tokens.describe('Images that the model saw, except what was cached'),
  imageCached: tokens.describe('Images that the model saw from its cache'),
});

const callState = z
  .enum(STATES)
  .describe(
    '`creating`: the provider has been asked to open it; `open`: it is in progress; `closing`: it is being hung up, and the provider has not confirmed the end; `closed`: it is over',
  );

/** A call at the provider, as operators see it (docs/contract.md, section 5.10). */
export const operatorCall = z.object({
  ref: callRef,
  provider,
  model: model.describe('The model in the call'),
  state: callState,
  providerCallId: string(
    'The provider’s id of the call, for its support; null until the provider has answered, and for viewers and admins of tenants',
    'rtc_u1_9c6574da8b8a41a18da9308f4ad974ce',
  ).nullable(),
  openedAt: instant.nullable().describe('When it was opened; null until then'),
  closingAt: instant
    .nullable()
    .describe('When Switchboard began to close it, kept once it is closed; null if nobody closed it'),
  overAt: instant
    .nullable()
    .describe(
      'When the provider says that it ended. For a room that its page may reopen, when that is no longer possible, which may be in the future. Null if nobody says so',
    ),
  closedAt: instant.nullable().describe('When it was closed; null until then'),
  closeReason: z
    .enum(Object.keys(CLOSE_REASONS) as CloseReason[])
    .nullable()
    .describe('Why it is closing or closed; null while it is open'),
  hangup: z.enum(HANGUPS).describe(
    Object.entries(HANGUP_WORDS)
      .map(([name, words]) => `\`${name}\`: ${words}`)
      .join('; '),
  ),
  hangupTries: count.describe('How often the provider was asked to hang it up'),
  basis: z
    .enum(['events', 'clock', 'reported', 'tool'])
    .nullable()
    .describe(
      'The source of its usage: the provider’s `events`, the `clock`, a client that `reported` it, or a `tool` that costs; null while there is no usage',
    ),
  tokens: tokensByClass.describe('Tokens used so far, by the classes that providers bill'),
  microDollars: microDollars.describe('The cost so far'),
  estimatedMicroDollars: microDollars.describe('The part of microDollars that is estimated'),
  gapSec: seconds.describe('How long no process of Switchboard heard the call'),
  ownerNode: nodeId
    .nullable()
    .describe('The process that holds the call, or held it last; null for users limited to some tenants'),
});

export type OperatorCall = z.infer<typeof operatorCall>;

/** One call of a tool that Switchboard calls. Its arguments and its answer are not stored. */
const operatorToolCall = z.object({
  name: string('The name of the tool', 'lookup_order'),
  state: z
    .enum(['asked', 'running', 'answered', 'failed', 'timed_out', 'dropped'] satisfies ToolCallState[])
    .describe('The state of the tool call; `dropped`: the call ended before the tool was answered'),
  code: string('Why the model got no answer; null if it got one', 'timed_out').nullable(),
  detail: string(
    'What went wrong, as far as Switchboard knows, without any text of the server; null if nothing did',
    'status 500',
  ).nullable(),
  endReason: string(
    'The reason for which the tool’s server ended the session, in its own words; null if it did not',
    'resolved',
  ).nullable(),
  askedAt: instant.describe('When the model called the tool'),
  ms: milliseconds.nullable().describe('How long it took from the model’s call to the end; null until then'),
  tries: count.describe('Requests sent to the tool’s server: none or one'),
});

export type OperatorToolCall = z.infer<typeof operatorToolCall>;

const toolsTold = { tools: z.array(operatorToolCall).describe('The server tools called during the call, in order') };

/** One call with what its machine did and the tools that were called in it. */
export const operatorCallDetail = operatorCall.extend({ ...actorTold, ...toolsTold });

/** A call in the list of all calls, with its session and owner. */
export const listedCall = operatorCall.extend({
  session: sessionRef.describe('The ref of its session'),
  tenantId,
  keyId: keyId.nullable().describe('The widget key of its session; null for console callers'),
  agentId: agentId.nullable().describe('The agent of its session; null if it has none or is no longer stored'),
  createdAt: instant.describe('When the provider was asked to open it'),
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
  calls: z.array(listedCall).describe('Calls of all sessions, newest first'),
  ...page,
});

/** One call by its own ref: what the list shows, and what led to its state. */
export const listedCallDetail = listedCall.extend({
  ...actorTold,
  ...toolsTold,
  openResponses: count
    .nullable()
    .describe(
      'Responses in progress; null while no process hears the call, or if the process that does so gives no answer within half a second',
    ),
  captions: z.boolean().nullable().describe('Whether visitors’ speech is transcribed; null if no longer known'),
  why: z
    .object({
      sentence: string(
        'The explanation in words, with times in UTC',
        'Still open, for 2 min since 12:00:00. Nobody here has heard it since 12:01:40.',
      ),
    })
    .describe('The state of the call, why it closed, and what is known of its hang-up'),
});
