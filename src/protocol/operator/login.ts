import { z } from 'zod';
import { loginName } from '../login.ts';
import { count, instant, ok } from '../values.ts';
import { actorTold } from './event.ts';
import { page, pageAsked } from './page.ts';

/** A console login as operators see it (docs/contract.md, section 8). */
export const operatorLogin = z.object({
  id: z.string(),
  email: z.string().meta({ description: 'Viewers see its first letter and its domain' }),
  createdAt: instant,
  renewedAt: instant,
  expiresAt: instant,
  state: z.enum(['active', 'destroyed']),
  reason: z.string().nullable().meta({ description: 'Why it was destroyed' }),
  endedAt: instant.nullable(),
});

export type OperatorLogin = z.infer<typeof operatorLogin>;

/** A login code as operators see it: neither the code nor a hash of it. */
export const operatorChallenge = z.object({
  id: z.string(),
  subject: z.string().meta({ description: 'The hash of the address that it was sent to' }),
  issuedAt: instant,
  expiresAt: instant,
  attempts: count,
  maxAttempts: count,
  state: z.enum(['pending', 'verified', 'locked', 'expired', 'superseded']),
});

export type OperatorChallenge = z.infer<typeof operatorChallenge>;

export const operatorLoginDetail = operatorLogin.extend(actorTold);
export const operatorChallengeDetail = operatorChallenge.extend(actorTold);

export const loginFilters = z.object({
  state: operatorLogin.shape.state.optional(),
  q: z.string().regex(loginName, 'must be the id of a login').optional(),
  ...pageAsked,
});

export const challengeFilters = z.object({ state: operatorChallenge.shape.state.optional(), ...pageAsked });

export const loginPage = z.object({ logins: z.array(operatorLogin), ...page });
export const challengePage = z.object({ challenges: z.array(operatorChallenge), ...page });

export const revokeLoginRequest = z.strictObject({ reason: z.string().max(500).optional() });
export const revokeLoginReply = z.object({
  ok,
  alreadyEnded: z.boolean().meta({ description: 'Whether it had ended before' }),
});
