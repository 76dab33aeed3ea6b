import type { FeedFact } from '../protocol/operator/feed.ts';
import type { Bus } from '../stores/bus/contract.ts';

/** What a node tells the others of at once. */
const MAX_FACTS = 200;

export interface FeedPeersDeps {
  readonly node: string;
  readonly bus: Pick<Bus, 'publish'>;
}

/** What the other nodes are to be told, until it is published. */
export class FeedPeers {
  readonly #deps: FeedPeersDeps;
  #facts: FeedFact[] = [];
  #more = 0;

  constructor(deps: FeedPeersDeps) {
    this.#deps = deps;
  }

  /** What there is no room for is counted, and they tell of a gap. */
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
