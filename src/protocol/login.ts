import { z } from 'zod';
import { email } from './email.ts';
import { instant, ok } from './values.ts';

/** The id of a login. */
export const loginName = /^auth_[\w-]{1,64}$/;

/** A console login, as its browser may know it (docs/contract.md, section 6.4). */
export const authSession = z.object({
  email: z.string(),
  sessionId: z.string().meta({ description: 'Prefix auth_' }),
  expiresAt: instant,
});

export type AuthSession = Readonly<z.infer<typeof authSession>>;

export const sendCodeRequest = z.object({ email });

export const sendCodeReply = z.object({
  ok,
  message: z.string(),
  expiresIn: z.int().meta({ description: 'Seconds' }),
});

export const verifyCodeRequest = z.object({
  email,
  code: z
    .string()
    .regex(/^[0-9]{6}$/, 'must be six digits')
    .meta({ description: 'The code of the newest mail' }),
});

export const verifyCodeReply = z.object({ ok, session: authSession });

export const loginReply = authSession.extend({ ok });

/** A login of whoever asks; its id proves nothing. */
export const ownLogin = z.object({
  id: z.string(),
  createdAt: instant,
  renewedAt: instant.meta({ description: 'When it was last used, give or take a minute' }),
  expiresAt: instant,
  isCurrent: z.boolean().meta({ description: 'Whether it is the one that asks' }),
});

export type OwnLogin = Readonly<z.infer<typeof ownLogin>>;

export const ownLogins = z.object({ ok, logins: z.array(ownLogin) });

export const revokeOwnLoginReply = z.object({
  ok,
  alreadyEnded: z.boolean().meta({ description: 'Whether it had ended before' }),
});

/** The one refusal that has no code (docs/contract.md, section 6.5). */
export const noLoginReply = z.object({ ok: z.literal(false), error: z.string() });
