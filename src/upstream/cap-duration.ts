import type { Capabilities, MintRequest } from './contract.ts';

/** Seconds to which a secret limits a session: the wish, within what the provider allows; without a wish the provider's longest. */
export function capDuration(
  { minSec, maxSec }: NonNullable<Capabilities['capDuration']>,
  { maxDurationSec = maxSec }: Pick<MintRequest, 'maxDurationSec'>,
): number {
  return Math.min(Math.max(Math.floor(maxDurationSec), minSec), maxSec);
}
