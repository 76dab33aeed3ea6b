import { z } from 'zod';
import { loginId, loginName } from '../login.ts';
import { subject, count, instant, string, ok } from '../fields.ts';
import { actorTold } from './event.ts';
import { page, pageAsked } from './pagination.ts';
import { email } from '../email.ts';

/** A console login as operators see it (docs/contract.md, section 8). */
export const operatorLogin = z.object({
  id: loginId,
  email: string('The e-mail address that is logged in; viewers see its first letter and its domain', 'ada@example.com'),
  createdAt: instant.describe('When the user logged in with the code'),
  renewedAt: instant.describe('When it was last used, to within a minute'),
  expiresAt: instant.describe('When it expires unless activity renews it'),
  state: z.enum(['active', 'destroyed']).describe('Whether it is active'),
  reason: string('Why it ended; null while it is active', 'logout', 'violation').nullable(),
  endedAt: instant.nullable().describe('When it ended; null while it is active'),
});

export type OperatorLogin = z.infer<typeof operatorLogin>;

/** A login code as operators see it: without the code and without a hash of it. */
export const operatorChallenge = z.object({
  id: string('The id of the code’s record, not the code itself', 'Zq3v0m8XcQf1rT6uYp2sLw'),
  subject: subject.describe('The keyed hash of the address to which it was sent'),
  issuedAt: instant.describe('When it was sent'),
  expiresAt: instant.describe('When it expires'),
  attempts: count.describe('How many codes were tried against it'),
  maxAttempts: count.describe('The number of attempts after which it is locked'),
  state: z
    .enum(['pending', 'verified', 'locked', 'expired', 'superseded'])
    .describe(
      '`pending`: it can be used; `verified`: it was used; `locked`: too many wrong attempts; `superseded`: a newer one was sent',
    ),
});

export type OperatorChallenge = z.infer<typeof operatorChallenge>;

export const operatorLoginDetail = operatorLogin.extend(actorTold);
export const operatorChallengeDetail = operatorChallenge.extend(actorTold);

export const loginFilters = z.object({
  state: operatorLogin.shape.state.optional().describe('Only logins in this state'),
  q: z
    .string()
    .regex(loginName, 'must be the id of a login')
    .optional()
    .meta({ ...loginId.meta(), description: 'Only the login with this id' }),
  ...pageAsked,
});

export const challengeFilters = z.object({
  state: operatorChallenge.shape.state.optional().describe('Only codes in this state'),
  ...pageAsked,
});

export const loginPage = z.object({ logins: z.array(operatorLogin).describe('Console logins, newest first'), ...page });
export const challengePage = z.object({
  challenges: z.array(operatorChallenge).describe('Login codes, newest first'),
  ...page,
});

/** POST /api/operator/addresses/lift: lets an address log in from new browsers again (docs/contract.md, section 6.2). */
export const liftAddressRequest = z.strictObject({
  email: email.describe('The e-mail address that may log in again from new browsers'),
  reason: z
    .string()
    .trim()
    .min(1, 'must say why')
    .max(500)
    .meta({ description: 'Why, for the audit', examples: ['called by phone; their codes went to an old laptop'] }),
});

export const liftAddressReply = z.object({
  ok,
  failures: count.describe('The count of wrong codes in a row that was reset'),
  mayLogIn: z.boolean().describe('Whether CONSOLE_EMAILS admits the address'),
});
