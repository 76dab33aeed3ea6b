import { z } from 'zod';

export interface Sender {
  /** Empty when there is only an address. */
  readonly name: string;
  readonly address: string;
}

/** RFC 5321 section 4.5.3.1: a path holds 256 octets, two of them the angle brackets. */
const maxAddressLength = 254;

/** True for one bare ASCII address: no display name, list, quote, comment, control character or white space. */
export function isPlainAddress(text: string): boolean {
  return text.length <= maxAddressLength && z.regexes.html5Email.test(text);
}

/**
 * Reads MAIL_FROM: `no-reply@example.com` or `Switchboard <no-reply@example.com>`.
 * @throws Error that says what is expected
 */
export function parseSender(text: string): Sender {
  const parts = /^\s*(?:"?(?<name>[^"<>\p{Cc}]*?)"?\s*<(?<bracketed>[^<>\s]+)>|(?<bare>[^<>\s]+))\s*$/u.exec(
    text,
  )?.groups;
  const address = parts?.['bracketed'] ?? parts?.['bare'] ?? '';
  if (!isPlainAddress(address)) {
    throw new Error('the sender must be an address, such as no-reply@example.com or Example <no-reply@example.com>');
  }
  return { name: parts?.['name'] ?? '', address };
}
