import { z } from 'zod';
import { text } from './values.ts';

/** Who sets challenges for pages, by the names that `BOT_PROVIDER` has for them. */
export const CHALLENGE_PROVIDERS = ['turnstile', 'hcaptcha', 'recaptcha', 'altcha'] as const;

export type ChallengeProvider = (typeof CHALLENGE_PROVIDERS)[number];

/** What a solved challenge is for, where a provider asks for that: a token that was solved for something else opens no session. */
export const CHALLENGE_ACTION = 'voice_session';

/** The header of a create that has the token of a solved challenge; the provider's own name for it counts as well. */
export const CHALLENGE_HEADER = 'X-Switchboard-Challenge';

/** A challenge that its caller may solve to be let in (docs/contract.md, section 4.2). */
export const challenge = z.object({
  provider: z.enum(CHALLENGE_PROVIDERS),
  siteKey: z.string().optional().meta({ description: "The provider's name for the site; altcha has none" }),
  action: z.literal(CHALLENGE_ACTION),
  data: z.string().meta({ description: 'Binds the solution to the widget key, its origin and five minutes' }),
});

export type Challenge = Readonly<z.infer<typeof challenge>>;

/** The header of a create that answers a challenge. */
export const challengeHeader = z.object({
  [CHALLENGE_HEADER]: z
    .string()
    .optional()
    .meta({ description: 'The token of the challenge that a BOT_BLOCKED before it asked for' }),
});

/** The query of GET /api/realtime/challenge (docs/contract.md, section 5.16). */
export const challengeQuery = z.object({
  widgetKey: text(256).meta({ examples: ['w_acme_site_4f1c0e8b7d2a49c3b6e5f0a1d2c3b4e5'] }),
});

/** A proof of work as ALTCHA has it, version 1. */
export const altchaChallenge = z.object({
  algorithm: z.literal('SHA-256'),
  challenge: z.string().meta({ description: 'SHA-256 of the salt with the number after it, in hexadecimal digits' }),
  maxnumber: z.int().meta({ description: 'The number is at most this' }),
  salt: z.string(),
  signature: z.string(),
});

export type AltchaChallenge = Readonly<z.infer<typeof altchaChallenge>>;
