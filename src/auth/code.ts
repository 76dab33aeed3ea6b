import { createHmac, hkdfSync, randomInt } from 'node:crypto';

/** A login code, drawn uniformly from 000000 to 999999 (docs/contract.md, section 6.2). */
export function drawCode(): string {
  return randomInt(1_000_000).toString().padStart(6, '0');
}

/** Hashes codes so that the database alone does not give them away: a million candidates are tried in a second without the key. */
export type CodeHash = (challengeId: string, code: string) => string;

/** @param installationKey the installation's secret; codes are hashed with a key of their own that is derived from it. */
export function createCodeHash(installationKey: Buffer): CodeHash {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard login code', 32));
  // The id makes equal codes of different challenges look different, and ties a hash to its row.
  return (challengeId, code) => createHmac('sha256', key).update(`${challengeId}:${code}`).digest('hex');
}
