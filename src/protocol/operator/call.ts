import { z } from 'zod';
import { CLOSE_REASONS, type CloseReason } from '../../../machines/voice-call/close-reasons.ts';
import type { ToolCallState } from '../../../machines/tool-call/types.ts';
import type { CallState, Hangup } from '../../../machines/voice-call/types.ts';
import { HANGUP_WORDS } from '../languages/hangups.ts';
import { commaList, count, instant, text } from '../values.ts';
import { actorTold } from './event.ts';
import { page, pageAsked } from './page.ts';

const STATES = ['creating', 'open', 'closing', 'closed'] as const satisfies CallState[];
const HANGUPS = Object.keys(HANGUP_WORDS) as Hangup[];

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
  state: z.enum(STATES),
  providerCallId: z.string().nullable().meta({
    description:
      "What the provider's support asks for; null until it has answered, and for viewers and admins of tenants",
  }),
  openedAt: z.iso.datetime().nullable(),
  closingAt: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'Since when it is to be hung up, also once it is closed; null where nobody closed it' }),
  closedAt: z.iso.datetime().nullable(),
  closeReason: z.enum(Object.keys(CLOSE_REASONS) as CloseReason[]).nullable(),
  hangup: z.enum(HANGUPS).meta({
    description: Object.entries(HANGUP_WORDS)
      .map(([name, words]) => `\`${name}\`: ${words}`)
      .join('; '),
  }),
  hangupTries: count,
  basis: z
    .enum(['events', 'clock', 'reported', 'tool'])
    .nullable()
    .meta({ description: 'How its usage is known; null while there is none' }),
  tokens: tokensByClass,
  microDollars: count,
  estimatedMicroDollars: count.meta({ description: 'What of microDollars stands on estimates' }),
  gapSec: count.meta({ description: 'Seconds in which nobody here heard it' }),
  ownerNode: z
    .string()
    .nullable()
    .meta({ description: 'The process that holds it, or held it last; null for who is shown some tenants only' }),
});

export type OperatorCall = z.infer<typeof operatorCall>;

/** One call of a tool of the server; nobody keeps its arguments or its answer. */
const operatorToolCall = z.object({
  name: z.string(),
  state: z.enum(['asked', 'running', 'answered', 'failed', 'timed_out', 'dropped'] satisfies ToolCallState[]),
  code: z.string().nullable().meta({ description: 'Why the model was told no answer' }),
  detail: z.string().nullable().meta({
    description: 'What went wrong, as far as Switchboard knows, such as `status 500`; no words of the server',
  }),
  endReason: z
    .string()
    .nullable()
    .meta({ description: 'Why its server ended the session, in its own word; null where it did not' }),
  askedAt: instant,
  ms: count.nullable().meta({ description: 'From its asking to its end; null until then' }),
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
  session: z.string().meta({ description: "Its session's ref" }),
  tenantId: z.string(),
  keyId: z.string().nullable(),
  agentId: z.string().nullable().meta({ description: "Its session's; null where that has none, or is kept no more" }),
  createdAt: instant.meta({ description: 'When the provider was asked for it' }),
});

export type ListedOperatorCall = z.infer<typeof listedCall>;

export const callFilters = z.object({
  state: commaList(STATES).optional(),
  tenantId: text(128).optional(),
  keyId: text(200).optional(),
  agentId: text(128).optional(),
  hangup: commaList(HANGUPS).optional(),
  ...pageAsked,
});

export const operatorCallPage = z.object({ calls: z.array(listedCall), ...page });

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
    .object({ sentence: z.string() })
    .meta({ description: 'How it stands, why it closed, and what is known of its hang-up; times in UTC' }),
});
