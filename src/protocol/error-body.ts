import { z } from 'zod';
import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import { challenge } from './challenge.ts';
import { budgetNamed } from './budget.ts';
import { endReason } from './session.ts';
import { usage } from './usage.ts';

/** One field, parameter or header that is wrong. */
const detail = z.object({ path: z.string(), message: z.string() });

/** The body of every error (docs/contract.md, section 2.2). */
export const errorBody = z.object({
  error: z.string().meta({ description: 'For a developer' }),
  code: z.string(),
  userMessage: z.string().meta({ description: 'For an end user' }),
  retryAfter: z.int().optional().meta({ description: 'Seconds' }),
  reason: endReason.optional(),
  maxMinutes: z.int().optional(),
  counted: z
    .literal(true)
    .optional()
    .meta({ description: 'A usage report: it was counted although it is refused, so do not send it again' }),
  usage: usage.optional().meta({ description: 'With counted: the totals right after the report' }),
  budget: budgetNamed.optional().meta({
    description: 'With DAILY_QUOTA_EXCEEDED: the budget of which nothing is left, where it is not a ceiling of the day',
  }),
  matched: z.int().optional().meta({ description: 'With COUNT_CHANGED: how many sessions match now' }),
  challenge: challenge
    .optional()
    .meta({ description: 'With BOT_BLOCKED: who solves it and sends the create once more with its token is let in' }),
  details: z.array(detail).optional(),
});

export type ErrorBody = Omit<z.infer<typeof errorBody>, 'details'> & {
  readonly details?: readonly z.infer<typeof detail>[] | undefined;
};

/** Fields that some codes add. `retryAfter` is also sent as the header Retry-After. */
export type ErrorAdditions = Readonly<Partial<Omit<ErrorBody, 'error' | 'code' | 'userMessage' | 'reason'>>> & {
  readonly reason?: EndReason | undefined;
  /** The end whose words take the place of the code's own; by default that of `reason`. It is no field of the body. */
  readonly saysEnd?: EndReason | undefined;
};

/** The part of it that every client understands. */
export const refusalBody = errorBody
  .pick({ code: true, error: true, userMessage: true, retryAfter: true, reason: true, challenge: true })
  .partial({ error: true });

export type RefusalBody = Readonly<z.infer<typeof refusalBody>>;
