import { z } from 'zod';
import { email } from '../email.ts';
import { count, ok } from '../field-types.ts';

/** POST /api/operator/addresses/lift: lets an address log in from new browsers again (docs/contract.md, section 6.2). */
export const liftAddressRequest = z.strictObject({
  email: email.describe('The e-mail address that may log in again from new browsers'),
  reason: z
    .string()
    .trim()
    .min(1, 'must say why')
    .max(500)
    .meta({ description: 'Why, for the audit', examples: ['called by phone; their codes went to an old laptop'] }),
});

export const liftAddressReply = z.object({
  ok,
  failures: count.describe('The count of wrong codes in a row that was reset'),
  mayLogIn: z.boolean().describe('Whether CONSOLE_EMAILS admits the address'),
});
