import { createHmac, hkdfSync, randomInt } from 'node:crypto';

/** A login code, drawn uniformly from 000000 to 999999 (docs/contract.md, section 6.2). */
export function drawCode(): string {
  return randomInt(1_000_000).toString().padStart(6, '0');
}

/** Hashes codes so that the database alone does not reveal them: without a key, a million candidates could be tried in a second. */
export type CodeHash = (challengeId: string, code: string) => string;

/** @param installationKey the installation's secret, from which the key for hashing codes is derived */
export function createCodeHash(installationKey: Buffer): CodeHash {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard login code', 32));
  // The id makes equal codes of different challenges hash differently, and ties a hash to its row.
  return (challengeId, code) => createHmac('sha256', key).update(`${challengeId}:${code}`).digest('hex');
}
