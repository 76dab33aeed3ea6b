import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../kernel/time.ts';
import { UpstreamFault, type Minted, type MintRequest, type UpstreamProvider } from './contract.ts';
import { makeUpstreamSessionId, type ProviderSettings } from './provider-http.ts';

export type LocalOptions = Pick<ProviderSettings, 'clientSecretTtlSec' | 'clock'>;

/** A simulated provider for machines without a key. Its secrets begin with `ek_local_` and open nothing. */
export class LocalProvider implements UpstreamProvider {
  readonly name = 'local';
  readonly capabilities = {
    call: 'none',
    hangUp: 'none',
    lockConfig: false,
    capDuration: null,
    meter: 'none',
    converses: false,
    tools: true,
    providerMaxSec: null,
  } as const;
  readonly simulated = true;
  readonly callOrigins = [];
  readonly #ttlSec: number;
  readonly #clock: Clock;

  constructor(options: LocalOptions) {
    this.#ttlSec = options.clientSecretTtlSec;
    this.#clock = options.clock ?? systemClock;
  }

  mint({ signal }: MintRequest): Promise<Minted> {
    if (signal.aborted) return Promise.reject(new UpstreamFault('timeout', 'the caller gave up'));
    return Promise.resolve({
      sessionId: makeUpstreamSessionId(),
      value: `ek_local_${randomBytes(18).toString('base64url')}`,
      expiresAtSec: Math.floor(this.#clock.now() / 1000) + this.#ttlSec,
    });
  }
}
