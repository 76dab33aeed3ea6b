import { z } from 'zod';
import { CHALLENGE_PROVIDERS } from './challenge.ts';
import { inUnit } from './field-types.ts';

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
