/** The processes as the feed goes on with them. */
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import type { Node, NodeList } from './shapes.ts';

/** As the service judges itself. */
const MAX_LOOP_MS = 100;

/** Whether a process does what is due too late. */
export function isLate({ loopP99Ms }: Node): boolean {
  return loopP99Ms > MAX_LOOP_MS;
}

/** The list after a frame: a process stays where it is, and one that is new comes below, because it started last. */
export function nodesAfter(list: NodeList, frame: FeedFrame): NodeList {
  if (frame.type !== 'node') return list;
  const { node, gone } = frame;
  const asOf = node.seenAt > list.asOf ? node.seenAt : list.asOf;
  if (gone) return { ...list, asOf, nodes: list.nodes.filter(({ id }) => id !== node.id) };
  const isKnown = list.nodes.some(({ id }) => id === node.id);
  const nodes = isKnown ? list.nodes.map((one) => (one.id === node.id ? node : one)) : [...list.nodes, node];
  return { ...list, asOf, nodes };
}
