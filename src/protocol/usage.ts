import { z } from 'zod';
import { optionalEmail } from './email.ts';
import { callRef, tenantNamed, instant, integer, number, ok, text } from './fields.ts';
import { sessionProof } from './session.ts';

/**
 * How long after its end a session's client may still report usage, in milliseconds: reports are late when a network is. What sums a session up waits
 * as long, if nobody here hears its calls.
 */
export const LATE_REPORT_MS = 5 * 60_000;

/** A user's totals for the day and their ceilings (docs/contract.md, section 5.8). */
export const usage = z
  .object({
    tokens: integer('tokens', 1200, 'Usage today, input and output together'),
    dollars: number('dollars', 0.02, 'Cost today'),
    dailyTokenLimit: integer('tokens', 300_000, 'The caller’s daily ceiling'),
    dailyDollarLimit: number('dollars', 20, 'The caller’s daily ceiling'),
    resetAt: instant.describe('When the next day begins and the totals start again'),
  })
  .describe('The user’s totals of the day, and their ceilings');

export type Usage = Readonly<z.infer<typeof usage>>;

export const usageAmounts = z.object({
  tokens: integer('tokens', 1200, 'The amount to add, input and output together').min(0).max(1e9),
  dollars: number(
    'dollars',
    0.02,
    'The amount to add, counted exactly to six decimals; further decimals are rounded half up',
  )
    .min(0)
    .max(1e5),
});

/** A model response that a page's data channel reported, for calls that Switchboard meters (docs/contract.md, section 5.12). */
export const reportedResponse = z
  .object({
    id: text(128, 'The provider’s id of the response', 'resp_C9CwUVUzUzYIssh3'),
    usage: z.looseObject({}).meta({
      description: 'The `usage` of the provider’s `response.done`, unchanged',
      examples: [{ total_tokens: 253, input_tokens: 132, output_tokens: 121 }],
    }),
    call: text(64)
      .optional()
      .meta({
        ...callRef.meta(),
        description: 'The ref of the call, as in its Location; by default the session’s newest call',
      }),
  })
  .describe(
    'A model response reported by the page from its data channel: counted only if Switchboard meters the call and did not hear the response itself',
  );

export type ReportedResponse = Readonly<z.infer<typeof reportedResponse>>;

/** The body of POST /api/auth/usage (docs/contract.md, section 5.8). */
export const usageRequest = z.object({
  email: optionalEmail.describe(
    'The user whose usage it is. Required without sm_session_id; with it, required from clients if the session was created with an address',
  ),
  ...usageAmounts.shape,
  response: reportedResponse.optional(),
  sm_session_id: sessionProof.shape.sm_session_id
    .optional()
    .describe('Proves whose usage it is; the report then counts as activity of the session'),
  call: text(64)
    .optional()
    .meta({
      ...callRef.meta(),
      description:
        'With a service token, instead of sm_session_id: the ref of a call of the session, which is the name of its room in LiveKit',
    }),
  tenantId: tenantNamed
    .optional()
    .describe(
      'With a service token and no sm_session_id: the e-mail is that of a widget user of this tenant; without it, that of a console user',
    ),
});

export type UsageRequest = Readonly<z.infer<typeof usageRequest>>;

/** False if a client's report was not counted because Switchboard meters the session's calls; otherwise absent. */
export const uncounted = z
  .literal(false)
  .optional()
  .describe('Present if Switchboard meters the session’s calls: the report changed nothing');

export const usageReply = z.object({ ok, usage, counted: uncounted });
