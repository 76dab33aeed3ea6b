import { z } from 'zod';
import { optionalEmail } from './email.ts';
import { sessionProof } from './session.ts';
import { instant, ok, text } from './values.ts';

/** The totals of a user's day and their ceilings (docs/contract.md, section 5.8). */
export const usage = z.object({
  tokens: z.int(),
  dollars: z.number(),
  dailyTokenLimit: z.int(),
  dailyDollarLimit: z.number(),
  resetAt: instant,
});

export type Usage = Readonly<z.infer<typeof usage>>;

export const usageAmounts = z.object({
  tokens: z.int().min(0).max(1e9),
  dollars: z
    .number()
    .min(0)
    .max(1e5)
    .meta({ description: 'Counted exactly to six decimals; more are rounded half up at the sixth' }),
});

/** A response of the model as a page's data channel told of it, for calls that are metered here (docs/contract.md, section 5.12). */
export const reportedResponse = z.object({
  id: text(128),
  /** The provider's own usage object, unchanged. */
  usage: z.looseObject({}).meta({ description: 'The `usage` of the provider’s `response.done`' }),
  call: text(64)
    .optional()
    .meta({ description: 'The call’s ref, as Location named it; by default the session’s newest' }),
});

export type ReportedResponse = Readonly<z.infer<typeof reportedResponse>>;

/** The body of POST /api/auth/usage (docs/contract.md, section 5.8). */
export const usageRequest = z.object({
  email: optionalEmail.meta({
    description:
      'Whose usage it is. Needed without sm_session_id; with it, needed of a client when the session was created for an address',
  }),
  ...usageAmounts.shape,
  response: reportedResponse.optional(),
  sm_session_id: sessionProof.shape.sm_session_id
    .optional()
    .meta({ description: 'Proves the subject; the report is then activity of the session' }),
  tenantId: text(128).optional().meta({
    description:
      'With a service token and no sm_session_id: the e-mail is that of a widget user of this tenant. Without it, of a console user',
  }),
});

export type UsageRequest = Readonly<z.infer<typeof usageRequest>>;

/** Whether a client's report was not counted, because the session's calls are metered here. */
export const uncounted = z
  .literal(false)
  .optional()
  .meta({ description: 'Present where the session’s calls are metered here: the report changed nothing' });

export const usageReply = z.object({ ok, usage, counted: uncounted });
