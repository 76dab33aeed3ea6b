import { z } from 'zod';
import { email } from './email.ts';
import { instant, integer, ok, string } from './fields.ts';

/** The id of a login. */
export const loginName = /^auth_[\w-]{1,64}$/;

export const loginId = string('The id of the login', 'auth_q8Hc2mVt5bXr9LwKz1NfYd');

/** A console login, as far as its browser may know it (docs/contract.md, section 6.4). */
export const authSession = z
  .object({
    email: string('The e-mail address that is logged in', 'ada@example.com'),
    sessionId: loginId,
    expiresAt: instant.describe('When the login expires unless activity renews it'),
  })
  .describe('The login');

export type AuthSession = Readonly<z.infer<typeof authSession>>;

export const sendCodeRequest = z.object({ email: email.describe('The address to mail the code to') });

export const sendCodeReply = z.object({
  ok,
  message: string(
    'A message to show; the same for every address',
    'If this address may log in, a code is on its way. It works once.',
  ),
  expiresIn: integer('seconds', 600, 'How long the code is valid'),
});

export const verifyCodeRequest = z.object({
  email: email.describe('The address to which the code was mailed'),
  code: z
    .string()
    .regex(/^[0-9]{6}$/, 'must be six digits')
    .meta({ description: 'The code from the newest mail', examples: ['042137'] }),
});

export const verifyCodeReply = z.object({ ok, session: authSession });

export const loginReply = authSession.extend({ ok });

/** One of the caller's own logins; its id proves nothing. */
export const ownLogin = z.object({
  id: loginId,
  createdAt: instant.describe('When the user logged in with the code'),
  renewedAt: instant.describe('When it was last used, to within a minute'),
  expiresAt: instant.describe('When it expires unless activity renews it'),
  isCurrent: z.boolean().describe('Whether it is the login that sent this request'),
});

export type OwnLogin = Readonly<z.infer<typeof ownLogin>>;

export const ownLogins = z.object({
  ok,
  logins: z.array(ownLogin).describe('The active logins of the caller’s address, newest first, at most 100'),
});

export const revokeLoginReply = z.object({ ok, alreadyEnded: z.boolean().describe('Whether it had already ended') });

/** The only refusal without a code (docs/contract.md, section 6.5). */
export const noLoginReply = z.object({
  ok: z.literal(false).describe('Nobody is logged in'),
  error: string('An explanation for developers', 'No active session'),
});
