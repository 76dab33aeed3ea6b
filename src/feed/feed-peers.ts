import type { FeedFact } from '../protocol/operator/feed.ts';
import type { Bus } from '../stores/bus/contract.ts';

/** Facts that a node sends the others at once. */
const MAX_FACTS = 200;

export interface FeedPeersDeps {
  readonly node: string;
  readonly bus: Pick<Bus, 'publish'>;
}

/** Collects the facts for the other nodes until they are published. */
export class FeedPeers {
  readonly #deps: FeedPeersDeps;
  #facts: FeedFact[] = [];
  #more = 0;

  constructor(deps: FeedPeersDeps) {
    this.#deps = deps;
  }

  /** Facts without room are counted, and the other nodes report a gap. */
  tell(fact: FeedFact): void {
    if (this.#facts.length < MAX_FACTS) this.#facts.push(fact);
    else this.#more += 1;
  }

  publish(): void {
    if (this.#facts.length === 0 && this.#more === 0) return;
    const { bus, node } = this.#deps;
    bus.publish({ type: 'feed.told', node, facts: this.#facts, more: this.#more });
    this.#facts = [];
    this.#more = 0;
  }
}
