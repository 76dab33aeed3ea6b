import { z } from 'zod';
import { email } from './email.ts';
import { instant, inUnit, ok } from './values.ts';

/** The id of a login. */
export const loginName = /^auth_[\w-]{1,64}$/;

export const loginId = z
  .string()
  .meta({ description: 'The id of the login', examples: ['auth_q8Hc2mVt5bXr9LwKz1NfYd'] });

/** A console login, as its browser may know it (docs/contract.md, section 6.4). */
export const authSession = z
  .object({
    email: z.string().meta({ description: 'The address that is logged in', examples: ['ada@example.com'] }),
    sessionId: loginId,
    expiresAt: instant.meta({ description: 'When the login ends, unless activity renews it' }),
  })
  .meta({ description: 'The login' });

export type AuthSession = Readonly<z.infer<typeof authSession>>;

export const sendCodeRequest = z.object({ email: email.meta({ description: 'Where the code is mailed' }) });

export const sendCodeReply = z.object({
  ok,
  message: z.string().meta({
    description: 'What can be shown; the same for every address',
    examples: ['If this address may log in, a code is on its way. It works once.'],
  }),
  expiresIn: z.int().meta({ description: 'How long the code works', ...inUnit('seconds', 600) }),
});

export const verifyCodeRequest = z.object({
  email: email.meta({ description: 'The address that the code was mailed to' }),
  code: z
    .string()
    .regex(/^[0-9]{6}$/, 'must be six digits')
    .meta({ description: 'The code of the newest mail', examples: ['042137'] }),
});

export const verifyCodeReply = z.object({ ok, session: authSession });

export const loginReply = authSession.extend({ ok });

/** A login of whoever asks; its id proves nothing. */
export const ownLogin = z.object({
  id: loginId,
  createdAt: instant.meta({ description: 'When the code was entered' }),
  renewedAt: instant.meta({ description: 'When it was last used, give or take a minute' }),
  expiresAt: instant.meta({ description: 'When it ends, unless activity renews it' }),
  isCurrent: z.boolean().meta({ description: 'Whether it is the one that asks' }),
});

export type OwnLogin = Readonly<z.infer<typeof ownLogin>>;

export const ownLogins = z.object({
  ok,
  logins: z.array(ownLogin).meta({ description: 'Logins of the address that are active, newest first, at most 100' }),
});

export const revokeOwnLoginReply = z.object({
  ok,
  alreadyEnded: z.boolean().meta({ description: 'Whether it had ended before' }),
});

/** The one refusal that has no code (docs/contract.md, section 6.5). */
export const noLoginReply = z.object({
  ok: z.literal(false).meta({ description: 'Nobody is logged in' }),
  error: z.string().meta({ description: 'For a developer', examples: ['No active session'] }),
});
