/**
 * Keys that one script touches share a hash tag, so that Redis Cluster keeps them on one server. There are 256 fixed tags: enough for a cluster of
 * about 16 servers (docs/decisions/0019-tags-of-redis.md), few enough to ask all of them at once.
 */
const TAGS = 256;

const names: readonly string[] = Array.from({ length: TAGS }, (_, tag) => tag.toString(16).padStart(2, '0'));

/** All tags. */
export const allTags: readonly number[] = Array.from({ length: TAGS }, (_, tag) => tag);

/** The name of a key under a tag, for example `{3f}due`; the connection puts its prefix before it. */
export function tagged(tag: number, name: string): string {
  return `{${names[tag]}}${name}`;
}

/** The tag of a subject: its first two hex digits; any other text is hashed. */
export function tagOfSubject(subject: string): number {
  return subject.length >= 2 ? tagAt(subject, 0) : tagOfText(subject);
}

/** The tag of a session id `s:<subject>:<session_id>` is its subject's: the id alone tells where everything about a session is. */
export function tagOfSession(id: string): number {
  return id.startsWith('s:') && id.length >= 4 ? tagAt(id, 2) : tagOfText(id);
}

/** The tag of any text: FNV-1a, cut to a byte. */
export function tagOfText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff;
}

function tagAt(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at));
  const low = hexDigit(text.charCodeAt(at + 1));
  return high < 0 || low < 0 ? tagOfText(text.slice(at, at + 2)) : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}

/** The slot of a tag in Redis Cluster: CRC16 (XMODEM) of what stands between the braces, modulo 16,384. */
export function slotOfTag(tag: number): number {
  let crc = 0;
  for (const char of Buffer.from(names[tag] ?? '')) {
    crc ^= char << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  }
  return crc & 0x3fff;
}
