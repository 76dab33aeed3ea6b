import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { EndingProvider } from '../upstream/contract.ts';

/**
 * The provider accounts that this service has credentials for, by fingerprint: one opens calls, and each hears and ends the calls that were opened
 * with it. Asked with another account's credential, the provider would answer that the call is over.
 */
export class ProviderAccounts {
  /** Fingerprint of the account that opens calls. */
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

  /** The provider to ask about a call; undefined where this service has no credential for it. Old calls have no fingerprint, only a provider. */
  of({ provider, fingerprint }: Pick<CallRecord, 'provider' | 'fingerprint'>): EndingProvider | undefined {
    if (fingerprint === null) return provider === this.#opens.name ? this.#opens : undefined;
    return this.#byFingerprint.get(fingerprint);
  }
}

/** Where a provider's longest call is not known, its calls count as over after a day. */
const UNKNOWN_SEC = 86_400;

/** Milliseconds after which the provider itself has ended a call. */
export function maxCallMs(provider: Pick<EndingProvider, 'capabilities'> | undefined): number {
  return (provider?.capabilities.providerMaxSec ?? UNKNOWN_SEC) * 1000;
}
