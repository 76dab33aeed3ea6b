import { z } from 'zod';
import { widgetKey, integer, string, inUnit } from './fields.ts';

/** The providers of challenges, by their names in `BOT_PROVIDER`. */
export const CHALLENGE_PROVIDERS = ['turnstile', 'hcaptcha', 'recaptcha', 'altcha'] as const;

export type ChallengeProvider = (typeof CHALLENGE_PROVIDERS)[number];

/** The action that a challenge is solved for, at providers that support actions: a token for another action opens no session. */
export const CHALLENGE_ACTION = 'voice_session';

/** The header of a create with the token of a solved challenge. The provider's own header name works too. */
export const CHALLENGE_HEADER = 'X-Switchboard-Challenge';

/** A challenge that the caller may solve to be admitted (docs/contract.md, section 4.2). */
export const challenge = z.object({
  provider: z.enum(CHALLENGE_PROVIDERS).describe('The provider of the challenge, whose script the page loads'),
  siteKey: string('The site key at the provider; altcha has none', '0x4AAAAAAADnPIDROrmt1Wwj').optional(),
  action: z.literal(CHALLENGE_ACTION).describe('What the challenge is solved for'),
  data: string(
    'Binds the solution to the widget key, its origin and a period of five minutes',
    '5yFq0kVx3v8Jr1zJt0cWbA',
  ),
});

export type Challenge = Readonly<z.infer<typeof challenge>>;

/** The header of a create that answers a challenge. */
export const challengeHeader = z.object({
  [CHALLENGE_HEADER]: string(
    'The token of a solved challenge, which a BOT_BLOCKED reply asked for',
    '0.zrSnRHO7h0HwSjSCU8oyzbjEtD8p',
  ).optional(),
});

/** The query of GET /api/realtime/challenge (docs/contract.md, section 5.16). */
export const challengeQuery = z.object({ widgetKey });

/** A proof of work in the format of ALTCHA, version 1. */
export const altchaChallenge = z.object({
  algorithm: z.literal('SHA-256').describe('The hash algorithm'),
  challenge: string(
    'The SHA-256 of the salt followed by the secret number, in hexadecimal: find that number',
    '37b5bd8f2ee9f0fa4b6ea4d9a8b5c7a1f7b2b1f19e5dd9b35e6f9b4a7d1c2e60',
  ),
  maxnumber: integer('none', 250_000, 'The largest possible number'),
  salt: string(
    'The text that precedes the number when it is hashed',
    '5yFq0kVx3v8Jr1zJt0cWbA.Qm9vdGhzIGFyZSBt?expires=1893499560&',
  ),
  signature: string(
    'Proves that Switchboard issued the challenge: return it unchanged in the token',
    '0d4c3b7f1b6a8c2f9d2e7a5b4c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d',
  ),
});

export type AltchaChallenge = Readonly<z.infer<typeof altchaChallenge>>;

const wanted = 'must be one of';

/** How callers of a widget key are challenged, if not as the installation does it. The secret is one that the tenant keeps. */
export const keyBots = z
  .strictObject(
    {
      provider: z
        .enum(CHALLENGE_PROVIDERS, `${wanted} ${CHALLENGE_PROVIDERS.join(', ')}`)
        .optional()
        .describe('The provider of challenges'),
      siteKey: z
        .string('must be a text')
        .regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 printable ASCII characters without spaces')
        .optional()
        .meta({ description: 'The site key at the provider; altcha has none', examples: ['0x4AAAAAAADnPIDROrmt1Wwj'] }),
      secret: z
        .string('must be a text')
        .regex(
          /^\$\{secret:[A-Za-z0-9_-]{1,64}\}$/,
          'must be ${secret:NAME}: the secret itself is kept by switchboard secrets set',
        )
        .optional()
        .meta({
          description: 'The tenant’s secret that is sent to the provider, by name; altcha has none',
          examples: ['${secret:turnstile}'],
        }),
      challenge: z
        .enum(['suspect', 'always'], `${wanted} suspect, always`)
        .optional()
        .describe('Who is challenged: only suspect callers, or everybody'),
      minScore: z
        .number('must be a number from 0 to 1')
        .min(0, 'must be at least 0')
        .max(1, 'must be at most 1')
        .optional()
        .meta(inUnit('share', 0.5, 'Only for reCAPTCHA: the lowest score that passes')),
    },
    'must be an object',
  )
  .superRefine(({ provider, siteKey, secret }, context) => {
    const isOfOthers = provider !== undefined && provider !== 'altcha';
    for (const [name, value] of Object.entries({ siteKey, secret }))
      if (isOfOthers !== (value !== undefined))
        context.addIssue({
          code: 'custom',
          path: [name],
          message: isOfOthers
            ? `is missing, and ${provider} needs it`
            : 'must be left out without a provider that needs it',
        });
  });

export type KeyBots = Readonly<z.infer<typeof keyBots>>;
