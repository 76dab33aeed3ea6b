import type { BrokeredProvider } from '../upstream/contract.ts';

/** The calls of providers whose longest time is not known are over after a day. */
const UNKNOWN_SEC = 86_400;

/** Milliseconds after which a provider has ended a call by itself. */
export function maxCallMs(provider: Pick<BrokeredProvider, 'capabilities'> | undefined): number {
  return (provider?.capabilities.providerMaxSec ?? UNKNOWN_SEC) * 1000;
}
