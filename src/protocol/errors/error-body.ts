import { z } from 'zod';
import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
import { challenge } from '../challenge.ts';
import { budgetNamed } from '../budget.ts';
import { endReason } from '../session.ts';
import { usage } from '../usage.ts';
import { integer, string } from '../fields.ts';

/** One field, parameter or header that is wrong. */
const detail = z.object({
  path: string('The wrong field, parameter or header, as a path of names and list positions', 'tools.0.name'),
  message: string('What is wrong with it, for developers', 'is missing'),
});

/** The body of every error (docs/contract.md, section 2.2). */
export const errorBody = z.object({
  error: string('What is wrong and what to do about it, for developers', 'sm_session_id: is missing'),
  code: string('The error code, which clients should act on; more codes may be added', 'INVALID_REQUEST'),
  userMessage: string(
    'A message that can be shown to end users unchanged, in the language of `Content-Language`',
    'Something in this request is not right. Please check it and try again.',
  ),
  retryAfter: integer('seconds', 30, 'How long to wait before trying again').optional(),
  reason: endReason.optional(),
  maxMinutes: integer('minutes', 15, 'With SESSION_DURATION_EXCEEDED: the longest duration of a session').optional(),
  counted: z
    .literal(true)
    .optional()
    .describe('For a usage report: it was counted although it was refused, so do not send it again'),
  usage: usage.optional().describe('With counted: the totals directly after the report'),
  budget: budgetNamed
    .optional()
    .describe('With DAILY_QUOTA_EXCEEDED: the budget that is used up, unless a daily ceiling was reached'),
  matched: integer('count', 212, 'With COUNT_CHANGED: how many match now').optional(),
  challenge: challenge
    .optional()
    .describe('With BOT_BLOCKED: a challenge; solve it and repeat the create with its token to be let in'),
  details: z.array(detail).optional().describe('What is wrong, field by field'),
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
