import { createHmac, hkdfSync } from 'node:crypto';

/**
 * What the audit keeps of a whisper's text (docs/contract.md, section 8): whoever has the database and a text can tell whether that was it. Readers of
 * the audit can try out no texts, because the key is not theirs, and compare none, because time and session are part of it.
 * @param target the session's ref
 * @returns 32 hexadecimal digits
 */
export function whisperHash(installationKey: Buffer, target: string, atMs: number, text: string): string {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard whispers', 32));
  return createHmac('sha256', key).update(`${target} ${atMs} ${text}`).digest('hex').slice(0, 32);
}
