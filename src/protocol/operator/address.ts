import { z } from 'zod';
import { email } from '../email.ts';
import { count, ok } from '../values.ts';

/** POST /api/operator/addresses/lift: opens an address to new browsers again (docs/contract.md, section 6.2). */
export const liftAddressRequest = z.strictObject({
  email: email.meta({ description: 'The address that is opened again' }),
  reason: z
    .string()
    .trim()
    .min(1, 'must say why')
    .max(500)
    .meta({ description: 'Why, for the audit', examples: ['called by phone; their codes went to an old laptop'] }),
});

export const liftAddressReply = z.object({
  ok,
  failures: count.meta({ description: 'Wrong codes in a row that are forgotten' }),
  mayLogIn: z.boolean().meta({ description: 'Whether CONSOLE_EMAILS admits the address' }),
});
