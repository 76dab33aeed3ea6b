/** Anything with an @ in it: mail servers repeat the recipient in their refusals. A path such as `node_modules/@redis` is none. */
const address = /[^\s<>"'()/@]+(?:@|%40)[^\s<>"'(),;/]+/gi;

const CHARACTER = '(?:[\\w-]|%[0-9a-f]{2})';
const COLON = '(?::|%(?:25)*3a)';
/** An sm_session_id, percent-encoded or not: its ref (kernel/ids.ts), and the rest, which makes it the caller's proof. */
const proof = new RegExp(`((?:s|%73)${COLON}(?:[0-9a-f]|%[0-9a-f]{2}){32}${COLON}${CHARACTER}{7})${CHARACTER}+`, 'gi');

/** A ticket or client secret, percent-encoded or not. Our own words have no more than its prefix. */
const secret = new RegExp(`(?<![\\w-])(?:e|%65)(?:k|%6b)(?:_|%5f)${CHARACTER}{16,}`, 'gi');

/** What turns the order of a line round, breaks it or steers a terminal without being seen; JSON writes all of these as they are. */
const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A line of JSON in which what cannot be seen can: as its number, also for whoever parses it. */
export function withoutDisguises(line: string): string {
  return line.replaceAll(unseen, (character) => `\\\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The text without e-mail addresses. Takes time with the square of the length: not for texts of any length. */
export function withoutAddresses(text: string): string {
  return text.replaceAll(address, '[address]');
}

/** The text with all session ids cut short, whatever part of one it holds, and without tickets and client secrets. */
export function withoutProofs(text: string): string {
  return text.replaceAll(proof, '$1…').replaceAll(secret, 'ek_…');
}
