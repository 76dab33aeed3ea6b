import type { Node } from './shapes.ts';

/** Which processes differ from most of the others in something; where as many are one way as the other, from the one that started first. */
export function oddNodes(nodes: readonly Node[], of: (node: Node) => string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(of(node), (counts.get(of(node)) ?? 0) + 1);
  const [usual] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return new Set(nodes.filter((node) => of(node) !== usual).map(({ id }) => id));
}
