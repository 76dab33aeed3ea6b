import { z } from 'zod';
import { CLOSE_REASONS, type CloseReason } from '../../../machines/voice-call/close-reasons.ts';
import type { CallState, Hangup } from '../../../machines/voice-call/types.ts';
import { count } from '../values.ts';
import { actorTold } from './event.ts';

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
  providerCallId: z.string().nullable().meta({
    description:
      "What the provider's support asks for; null until it has answered, and for viewers and admins of tenants",
  }),
  openedAt: z.iso.datetime().nullable(),
  closedAt: z.iso.datetime().nullable(),
  closeReason: z.enum(Object.keys(CLOSE_REASONS) as CloseReason[]).nullable(),
  hangup: z.enum(['none', 'asked', 'confirmed', 'already_over', 'unconfirmed'] satisfies Hangup[]).meta({
    description:
      '`unconfirmed`: given up, or asked by nobody for want of the credential: see whether the provider still bills the call',
  }),
  hangupTries: count,
  basis: z
    .enum(['events', 'clock', 'reported'])
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

/** One call, and what its machine did. */
export const operatorCallDetail = operatorCall.extend(actorTold);

export type OperatorCallDetail = z.infer<typeof operatorCallDetail>;
