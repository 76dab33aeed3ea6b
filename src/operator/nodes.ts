import type { Clock } from '../kernel/clock.ts';
import type { OperatorNode } from '../protocol/operator/node.ts';

/** A process that has said nothing for so long is not listed. */
const VALID_MS = 15_000;

/** The processes that said lately that they are here: kept in memory, so that it is known in outages. */
export class NodeList {
  readonly #clock: Clock;
  /** By their ids, with when this process heard of them: clocks may differ. */
  readonly #heard = new Map<string, { readonly node: OperatorNode; readonly atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hear(node: OperatorNode): void {
    this.#heard.set(node.id, { node, atMs: this.#clock.now() });
  }

  forget(id: string): void {
    this.#heard.delete(id);
  }

  /** In the order in which they started. */
  list(): OperatorNode[] {
    const oldest = this.#clock.now() - VALID_MS;
    for (const [id, { atMs }] of this.#heard) if (atMs < oldest) this.#heard.delete(id);
    return [...this.#heard.values()].map(({ node }) => node).sort(byStart);
  }
}

function byStart(one: OperatorNode, other: OperatorNode): number {
  return `${one.startedAt} ${one.id}` < `${other.startedAt} ${other.id}` ? -1 : 1;
}
