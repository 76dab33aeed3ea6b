import { z } from 'zod';

/** RFC 5321 section 4.5.3.1: a path holds 256 octets, two of them the angle brackets; a local part holds 64. */
const MAX_LENGTH = 254;
const localPart = /^(?![^@]{65})[^.@]+(?:\.[^.@]+)*@/;

/**
 * One plain e-mail address, trimmed and lower-cased (docs/contract.md, section 4.4): no display name, list, quotes, comment, control or
 * non-ASCII character. Domains with other letters are written in their ASCII form (xn--…): look-alike letters would otherwise
 * make two people of one address. The patterns run before the lower-casing, which turns some letters (the Kelvin sign) into ASCII.
 */
export const email = z
  .string()
  .trim()
  .max(MAX_LENGTH, `must have at most ${MAX_LENGTH} characters`)
  .regex(z.regexes.html5Email, 'must be one plain e-mail address such as name@example.com')
  .regex(localPart, 'must have at most 64 characters before the @, and single dots between them')
  .toLowerCase()
  .meta({ description: 'One plain e-mail address', examples: ['ada@example.com'] });

/** An address, or none: `""` and null are what forms and serializers send for a user without one. */
export const optionalEmail = z
  .union([email, z.literal(''), z.null()], { error: 'must be one plain e-mail address such as name@example.com' })
  .transform((address) => (address === null || address === '' ? undefined : address))
  .optional()
  .meta({
    description: 'Required if the session was created with an e-mail address; "" and null count as left out',
    examples: ['ada@example.com'],
  });

/** The address in the form that the rest of the service uses, or undefined when the text is not one plain address. */
export function parseEmail(text: string): string | undefined {
  return email.safeParse(text).data;
}

/** People that one thing is told to by mail. */
export const MAX_TOLD = 10;

/** The addresses of a list such as CONSOLE_EMAILS, without domains and `*`; as many as one thing is mailed to. */
export function addressesOf(list: readonly string[]): readonly string[] {
  return [...new Set(list.flatMap((entry) => parseEmail(entry) ?? []))].slice(0, MAX_TOLD);
}

/**
 * Whether a parsed address is on a list such as CONSOLE_EMAILS: `*` is everybody, `@example.com` everybody of exactly that
 * domain, anything else one address. Case does not matter; an empty list admits nobody.
 */
export function matchesEmailList(address: string, list: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@'));
  return list.some((entry) => {
    const wanted = entry.trim().toLowerCase();
    return wanted === '*' || wanted === address || wanted === domain;
  });
}
