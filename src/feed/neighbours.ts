import type { FeedFact } from '../protocol/operator/feed.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { BusMessage } from '../protocol/bus.ts';

/** What a node tells the others of at once. */
const MAX_FACTS = 200;
/** How often a node says that somebody watches here, and how long the others believe it. */
const SAY_MS = 5000;
const BELIEVE_MS = 15_000;

export interface NeighboursDeps {
  readonly node: string;
  readonly bus: Pick<Bus, 'publish'>;
  readonly now: () => number;
}

/** What is watched on a node. */
export interface Watched {
  /** Sessions whose events are wanted. */
  readonly refs: readonly string[];
  /** Undefined where an older node does not tell: then it may be any. */
  readonly topics: readonly string[] | undefined;
}

/** The other nodes: what is watched there, what they are told, and what they are told is watched here. */
export class Neighbours {
  readonly #deps: NeighboursDeps;
  /** Those with watchers, and until when that is believed. */
  readonly #watching = new Map<string, Watched & { readonly untilMs: number }>();
  #facts: FeedFact[] = [];
  #more = 0;
  #saidAtMs = -Infinity;
  #said = '';

  constructor(deps: NeighboursDeps) {
    this.#deps = deps;
  }

  get areWatching(): boolean {
    return this.#watching.size > 0;
  }

  wants(topic: string): boolean {
    for (const { topics } of this.#watching.values()) if (topics?.includes(topic) ?? true) return true;
    return false;
  }

  follow(ref: string): boolean {
    for (const { refs } of this.#watching.values()) if (refs.includes(ref)) return true;
    return false;
  }

  /** Another node says what is watched there. */
  hear({ node, refs, topics }: Extract<BusMessage, { type: 'feed.watched' }>): void {
    this.#watching.set(node, { refs, topics, untilMs: this.#deps.now() + BELIEVE_MS });
  }

  forgetSilent(): void {
    for (const [node, { untilMs }] of this.#watching) if (untilMs <= this.#deps.now()) this.#watching.delete(node);
  }

  /** Says what is watched here: at once when that changed, else every few seconds. */
  say({ refs, topics = [] }: Watched): void {
    const { bus, node, now } = this.#deps;
    const told = { refs: refs.toSorted(), topics: topics.toSorted() };
    const said = JSON.stringify(told);
    if (Math.abs(now() - this.#saidAtMs) < SAY_MS && said === this.#said) return;
    this.#saidAtMs = now();
    this.#said = said;
    bus.publish({ type: 'feed.watched', node, ...told });
  }

  /** Keeps a fact for them until `publish`. What there is no room for is counted, and they tell of a gap. */
  tell(fact: FeedFact): void {
    if (this.#watching.size === 0) return;
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
