import { z } from 'zod';

/** Who sets challenges for pages, by the names that `BOT_PROVIDER` has for them. */
export const CHALLENGE_PROVIDERS = ['turnstile', 'hcaptcha', 'recaptcha'] as const;

export type ChallengeProvider = (typeof CHALLENGE_PROVIDERS)[number];

/** What a solved challenge is for, where a provider asks for that: a token that was solved for something else opens no session. */
export const CHALLENGE_ACTION = 'voice_session';

/** The header of a create that has the token of a solved challenge; the provider's own name for it counts as well. */
export const CHALLENGE_HEADER = 'X-Switchboard-Challenge';

/** A challenge that its caller may solve to be let in (docs/contract.md, section 4.2). */
export const challenge = z.object({
  provider: z.enum(CHALLENGE_PROVIDERS),
  siteKey: z.string().optional().meta({ description: "The provider's name for the site" }),
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
