import type { OperatorNode } from '../protocol/operator/node.ts';

interface NodeChange {
  readonly node: OperatorNode;
  readonly gone: boolean;
}

/** What became of the nodes since the last look: those that told of themselves since, and those that are not listed any more. */
export class NodeChanges {
  #seen = new Map<string, OperatorNode>();

  look(nodes: readonly OperatorNode[]): readonly NodeChange[] {
    const before = this.#seen;
    this.#seen = new Map(nodes.map((node) => [node.id, node]));
    const heard = nodes.filter(({ id, seenAt }) => before.get(id)?.seenAt !== seenAt);
    const gone = [...before.values()].filter(({ id }) => !this.#seen.has(id));
    return [...heard.map((node) => ({ node, gone: false })), ...gone.map((node) => ({ node, gone: true }))];
  }

  /** Nobody looks any more. */
  forget(): void {
    this.#seen.clear();
  }
}
