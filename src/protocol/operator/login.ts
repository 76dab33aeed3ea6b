import { z } from 'zod';
import { loginId, loginName } from '../login.ts';
import { auditReason, subject } from '../fields.ts';
import { count, instant, ok } from '../values.ts';
import { actorTold } from './event.ts';
import { page, pageAsked } from './page.ts';

/** A console login as operators see it (docs/contract.md, section 8). */
export const operatorLogin = z.object({
  id: loginId,
  email: z.string().meta({
    description: 'The e-mail address that is logged in; viewers see its first letter and its domain',
    examples: ['ada@example.com'],
  }),
  createdAt: instant.meta({ description: 'When the user logged in with the code' }),
  renewedAt: instant.meta({ description: 'When it was last used, to within a minute' }),
  expiresAt: instant.meta({ description: 'When it expires unless activity renews it' }),
  state: z.enum(['active', 'destroyed']).meta({ description: 'Whether it is active' }),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why it ended; null while it is active', examples: ['logout', 'violation'] }),
  endedAt: instant.nullable().meta({ description: 'When it ended; null while it is active' }),
});

export type OperatorLogin = z.infer<typeof operatorLogin>;

/** A login code as operators see it: without the code and without a hash of it. */
export const operatorChallenge = z.object({
  id: z
    .string()
    .meta({ description: 'The id of the code’s record, not the code itself', examples: ['Zq3v0m8XcQf1rT6uYp2sLw'] }),
  subject: subject.meta({ description: 'The keyed hash of the address to which it was sent' }),
  issuedAt: instant.meta({ description: 'When it was sent' }),
  expiresAt: instant.meta({ description: 'When it expires' }),
  attempts: count.meta({ description: 'How many codes were tried against it' }),
  maxAttempts: count.meta({ description: 'The number of attempts after which it is locked' }),
  state: z.enum(['pending', 'verified', 'locked', 'expired', 'superseded']).meta({
    description:
      '`pending`: it can be used; `verified`: it was used; `locked`: too many wrong attempts; `superseded`: a newer one was sent',
  }),
});

export type OperatorChallenge = z.infer<typeof operatorChallenge>;

export const operatorLoginDetail = operatorLogin.extend(actorTold);
export const operatorChallengeDetail = operatorChallenge.extend(actorTold);

export const loginFilters = z.object({
  state: operatorLogin.shape.state.optional().meta({ description: 'Only logins in this state' }),
  q: z
    .string()
    .regex(loginName, 'must be the id of a login')
    .optional()
    .meta({ ...loginId.meta(), description: 'Only the login with this id' }),
  ...pageAsked,
});

export const challengeFilters = z.object({
  state: operatorChallenge.shape.state.optional().meta({ description: 'Only codes in this state' }),
  ...pageAsked,
});

export const loginPage = z.object({
  logins: z.array(operatorLogin).meta({ description: 'Console logins, newest first' }),
  ...page,
});
export const challengePage = z.object({
  challenges: z.array(operatorChallenge).meta({ description: 'Login codes, newest first' }),
  ...page,
});

export const revokeLoginRequest = z.strictObject({ reason: auditReason });
export const revokeLoginReply = z.object({
  ok,
  alreadyEnded: z.boolean().meta({ description: 'Whether it had already ended' }),
});
