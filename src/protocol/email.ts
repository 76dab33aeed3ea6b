import { z } from 'zod';

/** RFC 5321 section 4.5.3.1: a path holds 256 octets, two of them the angle brackets; a local part holds 64. */
const MAX_LENGTH = 254;
const localPart = /^(?![^@]{65})[^.@]+(?:\.[^.@]+)*@/;

/**
 * One plain e-mail address, trimmed and lower-cased (docs/contract.md, section 4.4): no display name, list, quotes, comment, control or
 * non-ASCII character. Internationalized domains must be in their ASCII form (xn--…), because look-alike letters would otherwise
 * turn one address into two people. The patterns run before the lower-casing, which turns some letters (the Kelvin sign) into ASCII.
 */
export const email = z
  .string()
  .trim()
  .max(MAX_LENGTH, `must have at most ${MAX_LENGTH} characters`)
  .regex(z.regexes.html5Email, 'must be one plain e-mail address such as name@example.com')
  .regex(localPart, 'must have at most 64 characters before the @, and single dots between them')
  .toLowerCase()
  .meta({ description: 'One plain e-mail address', examples: ['ada@example.com'] });

/** An optional address: forms and serializers send `""` or null for a user without one. */
export const optionalEmail = z
  .union([email, z.literal(''), z.null()], { error: 'must be one plain e-mail address such as name@example.com' })
  .transform((address) => (address === null || address === '' ? undefined : address))
  .optional()
  .meta({
    description: 'Required if the session was created with an e-mail address; "" and null count as left out',
    examples: ['ada@example.com'],
  });

/** The address in the form that the rest of the service uses; undefined if the text is not one plain address. */
export function parseEmail(text: string): string | undefined {
  return email.safeParse(text).data;
}

/** The most recipients of one mail notification. */
export const MAX_TOLD = 10;

/** The addresses in a list such as CONSOLE_EMAILS, without its domains and `*`; at most `MAX_TOLD`. */
export function addressesOf(list: readonly string[]): readonly string[] {
  return [...new Set(list.flatMap((entry) => parseEmail(entry) ?? []))].slice(0, MAX_TOLD);
}

/**
 * Whether a parsed address is on a list such as CONSOLE_EMAILS: `*` matches everybody, `@example.com` everybody in exactly that
 * domain, and anything else one address. Case does not matter; an empty list admits nobody.
 */
export function matchesEmailList(address: string, list: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@'));
  return list.some((entry) => {
    const wanted = entry.trim().toLowerCase();
    return wanted === '*' || wanted === address || wanted === domain;
  });
}
