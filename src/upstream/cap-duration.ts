import type { Capabilities, MintRequest } from './contract.ts';

/** Seconds to which a secret bounds a session: what is asked for, as far as the provider takes it; without a wish its longest. */
export function capDuration(
  { minSec, maxSec }: NonNullable<Capabilities['capDuration']>,
  { maxDurationSec = maxSec }: Pick<MintRequest, 'maxDurationSec'>,
): number {
  return Math.min(Math.max(Math.floor(maxDurationSec), minSec), maxSec);
}
