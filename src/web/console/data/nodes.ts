/** The list of processes, updated from the feed. */
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import type { Node, NodeList } from './shapes.ts';

/** The same limit by which the service judges itself. */
const MAX_LOOP_MS = 100;

/** Whether a process's event loop is too slow. */
export function isLate({ loopP99Ms }: Node): boolean {
  return loopP99Ms > MAX_LOOP_MS;
}

/** The list after a frame. A process keeps its place, and a new one is appended, because it started last. */
export function nodesAfter(list: NodeList, frame: FeedFrame): NodeList {
  if (frame.type !== 'node') return list;
  const { node, gone } = frame;
  const asOf = node.seenAt > list.asOf ? node.seenAt : list.asOf;
  if (gone) return { ...list, asOf, nodes: list.nodes.filter(({ id }) => id !== node.id) };
  const isKnown = list.nodes.some(({ id }) => id === node.id);
  const nodes = isKnown ? list.nodes.map((one) => (one.id === node.id ? node : one)) : [...list.nodes, node];
  return { ...list, asOf, nodes };
}

/** The processes that differ from most of the others in something. In a tie, those that differ from the process that started first. */
export function oddNodes(nodes: readonly Node[], of: (node: Node) => string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(of(node), (counts.get(of(node)) ?? 0) + 1);
  const [usual] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return new Set(nodes.filter((node) => of(node) !== usual).map(({ id }) => id));
}
