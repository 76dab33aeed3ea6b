import type { Clock } from '../kernel/time.ts';
import { ifAway } from '../kernel/errors.ts';
import { createSealer, SealBroken, type Sealer } from '../kernel/seal.ts';
import type { Recaps } from '../stores/recaps/contract.ts';
import type { Recap } from './pages/recent-turns.ts';

const PURPOSE = 'switchboard recaps';

interface SealedRecapsDeps {
  readonly store: Recaps;
  readonly installationKey: Buffer;
  readonly clock: Clock;
  /** The longest that a session may last. */
  readonly keepMs: number;
}

/**
 * The last part of what pages were shown of each session's conversation, for its next call on any node: sealed for that session alone, kept until the
 * session ends or its longest time is over, and lost if the live stores are lost. Operators, logs and metrics never see a word of it.
 */
export class SealedRecaps {
  readonly #deps: SealedRecapsDeps;
  readonly #sealer: Sealer;

  constructor(deps: SealedRecapsDeps) {
    this.#deps = deps;
    this.#sealer = createSealer([deps.installationKey], PURPOSE);
  }

  /** Keeps a recap, replacing the one before; while the store is away it is lost. */
  async keep(sessionId: string, recap: Recap): Promise<void> {
    const { store, clock, keepMs } = this.#deps;
    const at = clock.now();
    const sealed = this.#sealer.seal(JSON.stringify(recap), sessionId).toString('base64');
    await (async () => store.keep(sessionId, sealed, at + keepMs, at))().catch(ifAway(() => undefined));
  }

  /** Undefined where there is none, or while the store is away. */
  async find(sessionId: string): Promise<Recap | undefined> {
    const { store, clock } = this.#deps;
    const sealed = await (async () => store.find(sessionId, clock.now()))().catch(ifAway(() => undefined));
    if (sealed === undefined) return undefined;
    try {
      return JSON.parse(this.#sealer.open(Buffer.from(sealed, 'base64'), sessionId)) as Recap;
    } catch (fault) {
      if (fault instanceof SealBroken) return undefined;
      throw fault;
    }
  }

  /** The session is over. While the store is away, its recap expires by itself. */
  async forget(sessionId: string): Promise<void> {
    await (async () => this.#deps.store.forget(sessionId))().catch(ifAway(() => undefined));
  }
}
