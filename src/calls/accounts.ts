import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { EndingProvider } from '../upstream/contract.ts';

/**
 * The provider's accounts that this service has credentials of, known by their fingerprints: one opens calls, all hear and end those that
 * were opened with them. Who asked for a call with another account's credential would be told that it is over.
 */
export class Accounts {
  /** Of the account that opens calls. */
  readonly fingerprint: string;
  readonly #opens: EndingProvider;
  readonly #byFingerprint: ReadonlyMap<string, EndingProvider>;

  constructor(opens: EndingProvider, others: readonly EndingProvider[], installationKey: Buffer) {
    this.#opens = opens;
    this.fingerprint = opens.fingerprint(installationKey);
    this.#byFingerprint = new Map(
      [...others, opens].map((provider) => [provider.fingerprint(installationKey), provider]),
    );
  }

  get fingerprints(): readonly string[] {
    return [...this.#byFingerprint.keys()];
  }

  /** Who can be asked for a call; undefined where nobody here has its credential. A call of before has no fingerprint, only a provider. */
  of({ provider, fingerprint }: Pick<CallRecord, 'provider' | 'fingerprint'>): EndingProvider | undefined {
    if (fingerprint === null) return provider === this.#opens.name ? this.#opens : undefined;
    return this.#byFingerprint.get(fingerprint);
  }
}

/** The calls of providers whose longest time is not known are over after a day. */
const UNKNOWN_SEC = 86_400;

/** Milliseconds after which a provider has ended a call by itself. */
export function maxCallMs(provider: Pick<EndingProvider, 'capabilities'> | undefined): number {
  return (provider?.capabilities.providerMaxSec ?? UNKNOWN_SEC) * 1000;
}
