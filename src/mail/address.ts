import { z } from 'zod';

/** RFC 5321 section 4.5.3.1: a path holds 256 octets, two of them the angle brackets. */
const MAX_ADDRESS_LENGTH = 254;

/** True for one bare ASCII address: no display name, list, quote, comment, control character or white space. */
export function isPlainAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && z.regexes.html5Email.test(text);
}
