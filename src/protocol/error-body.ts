import { z } from 'zod';
import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import { challenge } from './challenge.ts';
import { budgetNamed } from './budget.ts';
import { endReason } from './session.ts';
import { usage } from './usage.ts';
import { inUnit } from './values.ts';

/** One field, parameter or header that is wrong. */
const detail = z.object({
  path: z.string().meta({
    description: 'The wrong field, parameter or header, as a path of names and list positions',
    examples: ['tools.0.name'],
  }),
  message: z.string().meta({ description: 'What is wrong with it, for developers', examples: ['is missing'] }),
});

/** The body of every error (docs/contract.md, section 2.2). */
export const errorBody = z.object({
  error: z.string().meta({
    description: 'What is wrong and what to do about it, for developers',
    examples: ['sm_session_id: is missing'],
  }),
  code: z.string().meta({
    description: 'The error code, which clients should act on; more codes may be added',
    examples: ['INVALID_REQUEST'],
  }),
  userMessage: z.string().meta({
    description: 'A message that can be shown to end users unchanged, in the language of `Content-Language`',
    examples: ['Something in this request is not right. Please check it and try again.'],
  }),
  retryAfter: z
    .int()
    .optional()
    .meta({ description: 'How long to wait before trying again', ...inUnit('seconds', 30) }),
  reason: endReason.optional(),
  maxMinutes: z
    .int()
    .optional()
    .meta({
      description: 'With SESSION_DURATION_EXCEEDED: the longest duration of a session',
      ...inUnit('minutes', 15),
    }),
  counted: z
    .literal(true)
    .optional()
    .meta({ description: 'For a usage report: it was counted although it was refused, so do not send it again' }),
  usage: usage.optional().meta({ description: 'With counted: the totals directly after the report' }),
  budget: budgetNamed.optional().meta({
    description: 'With DAILY_QUOTA_EXCEEDED: the budget that is used up, unless a daily ceiling was reached',
  }),
  matched: z
    .int()
    .optional()
    .meta({ description: 'With COUNT_CHANGED: how many match now', ...inUnit('count', 212) }),
  challenge: challenge
    .optional()
    .meta({ description: 'With BOT_BLOCKED: a challenge; solve it and repeat the create with its token to be let in' }),
  details: z.array(detail).optional().meta({ description: 'What is wrong, field by field' }),
});

export type ErrorBody = Omit<z.infer<typeof errorBody>, 'details'> & {
  readonly details?: readonly z.infer<typeof detail>[] | undefined;
};

/** Fields that some codes add to the body. `retryAfter` is also sent as the header Retry-After. */
export type ErrorAdditions = Readonly<Partial<Omit<ErrorBody, 'error' | 'code' | 'userMessage' | 'reason'>>> & {
  readonly reason?: EndReason | undefined;
  /** The end reason whose words replace the code's own; `reason` by default. It is not sent. */
  readonly saysEnd?: EndReason | undefined;
};

/** The part of an error's body that every client understands. */
export const refusalBody = errorBody
  .pick({ code: true, error: true, userMessage: true, retryAfter: true, reason: true, challenge: true })
  .partial({ error: true });

export type RefusalBody = Readonly<z.infer<typeof refusalBody>>;
