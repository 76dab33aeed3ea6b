import { createHmac, hkdfSync } from 'node:crypto';

/**
 * What the audit keeps of a whisper's text (docs/contract.md, section 8). Whoever has the database can check whether a given text was whispered.
 * Readers of the audit cannot try out texts, because they lack the key, nor see which are equal, because time and session are part of the hash.
 * @param target the session's ref
 * @returns 32 hexadecimal digits
 */
export function whisperHash(installationKey: Buffer, target: string, atMs: number, text: string): string {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard whispers', 32));
  return createHmac('sha256', key).update(`${target} ${atMs} ${text}`).digest('hex').slice(0, 32);
}
