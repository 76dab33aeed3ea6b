import { z } from 'zod';
import { email } from './email.ts';
import { instant, inUnit, ok } from './values.ts';

/** The id of a login. */
export const loginName = /^auth_[\w-]{1,64}$/;

export const loginId = z
  .string()
  .meta({ description: 'The id of the login', examples: ['auth_q8Hc2mVt5bXr9LwKz1NfYd'] });

/** A console login, as far as its browser may know it (docs/contract.md, section 6.4). */
export const authSession = z
  .object({
    email: z.string().meta({ description: 'The e-mail address that is logged in', examples: ['ada@example.com'] }),
    sessionId: loginId,
    expiresAt: instant.meta({ description: 'When the login expires unless activity renews it' }),
  })
  .meta({ description: 'The login' });

export type AuthSession = Readonly<z.infer<typeof authSession>>;

export const sendCodeRequest = z.object({ email: email.meta({ description: 'The address to mail the code to' }) });

export const sendCodeReply = z.object({
  ok,
  message: z.string().meta({
    description: 'A message to show; the same for every address',
    examples: ['If this address may log in, a code is on its way. It works once.'],
  }),
  expiresIn: z.int().meta({ description: 'How long the code is valid', ...inUnit('seconds', 600) }),
});

export const verifyCodeRequest = z.object({
  email: email.meta({ description: 'The address to which the code was mailed' }),
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
  createdAt: instant.meta({ description: 'When the user logged in with the code' }),
  renewedAt: instant.meta({ description: 'When it was last used, to within a minute' }),
  expiresAt: instant.meta({ description: 'When it expires unless activity renews it' }),
  isCurrent: z.boolean().meta({ description: 'Whether it is the login that sent this request' }),
});

export type OwnLogin = Readonly<z.infer<typeof ownLogin>>;

export const ownLogins = z.object({
  ok,
  logins: z
    .array(ownLogin)
    .meta({ description: 'The active logins of the caller’s address, newest first, at most 100' }),
});

export const revokeOwnLoginReply = z.object({
  ok,
  alreadyEnded: z.boolean().meta({ description: 'Whether it had already ended' }),
});

/** The only refusal without a code (docs/contract.md, section 6.5). */
export const noLoginReply = z.object({
  ok: z.literal(false).meta({ description: 'Nobody is logged in' }),
  error: z.string().meta({ description: 'An explanation for developers', examples: ['No active session'] }),
});
