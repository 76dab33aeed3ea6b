import { z } from 'zod';
import { optionalEmail } from './email.ts';
import { callRef, tenantNamed } from './fields.ts';
import { sessionProof } from './session.ts';
import { instant, inUnit, ok, text } from './values.ts';

/** The totals of a user's day and their ceilings (docs/contract.md, section 5.8). */
export const usage = z
  .object({
    tokens: z.int().meta({ description: 'Used today, input and output together', ...inUnit('tokens', 1200) }),
    dollars: z.number().meta({ description: 'Used today', ...inUnit('dollars', 0.02) }),
    dailyTokenLimit: z
      .int()
      .meta({ description: 'The ceiling of tokens that applies to the caller', ...inUnit('tokens', 300_000) }),
    dailyDollarLimit: z
      .number()
      .meta({ description: 'The ceiling of dollars that applies to the caller', ...inUnit('dollars', 20) }),
    resetAt: instant.meta({ description: 'When the next day begins, and with it new totals' }),
  })
  .meta({ description: "The totals of the user's day, and their ceilings" });

export type Usage = Readonly<z.infer<typeof usage>>;

export const usageAmounts = z.object({
  tokens: z
    .int()
    .min(0)
    .max(1e9)
    .meta({ description: 'What is added, input and output together', ...inUnit('tokens', 1200) }),
  dollars: z
    .number()
    .min(0)
    .max(1e5)
    .meta({
      description: 'What is added: counted exactly to six decimals; more are rounded half up at the sixth',
      ...inUnit('dollars', 0.02),
    }),
});

/** A response of the model as a page's data channel told of it, for calls that are metered here (docs/contract.md, section 5.12). */
export const reportedResponse = z
  .object({
    id: text(128).meta({ description: 'The id of the response at the provider', examples: ['resp_C9CwUVUzUzYIssh3'] }),
    usage: z.looseObject({}).meta({
      description: 'The `usage` of the provider’s `response.done`, unchanged',
      examples: [{ total_tokens: 253, input_tokens: 132, output_tokens: 121 }],
    }),
    call: text(64)
      .optional()
      .meta({
        ...callRef.meta(),
        description: 'The call’s ref, as Location named it; by default the session’s newest',
      }),
  })
  .meta({
    description:
      'A response of the model as the page’s data channel told of it: it counts where the call is metered here and nobody here heard it',
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
  call: text(64)
    .optional()
    .meta({
      ...callRef.meta(),
      description:
        'With a service token, in the place of sm_session_id: a call of the session by its ref, which is the name of its room in LiveKit',
    }),
  tenantId: tenantNamed.optional().meta({
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
