import type { SocketLife } from '../../../support/journal.ts';
import { dependencyOf, type History } from '../history.ts';

/** The observer sees an end at most this much later. */
const SEEN_MS = 400;
/** A node that died or froze while it ended a session may not have announced it; nor may one that Redis failed. */
const PUSH_MS = 1000;
const PATIENCE_MS = 3000;

/** Each socket hears the end of its session once, with the right reason and nothing after it, unless it closed before. */
export function checkSockets(history: History): string[] {
  return history.journal.sockets.flatMap((life) => wrongs(life, history).map((what) => `${life.session} ${what}`));
}

function wrongs(life: SocketLife, history: History): string[] {
  const { node, ends, framesAfterEnd } = life;
  const row = history.sessions.get(life.session);
  const violations: string[] = [];
  if (ends.length > 1) violations.push(`was told at one socket of node ${node} ${ends.length} times that it is over`);
  if (framesAfterEnd > 0) violations.push(`said ${framesAfterEnd} things at a socket of node ${node} after its end`);
  for (const { reason } of ends)
    if (row !== undefined && reason !== row.reason)
      violations.push(`ended with ${row.reason}, and a socket of node ${node} was told ${reason}`);
  if (ends.length === 0 && wasLeftOut(life, history))
    violations.push(`ended, and a socket of node ${node} was not told`);
  return violations;
}

/** Whether the socket stayed open for long after the end although nothing prevented the push. */
function wasLeftOut({ session, node, attachedAt, closedAt = Infinity }: SocketLife, history: History): boolean {
  const seen = history.seenEnds.get(session);
  if (seen === undefined || attachedAt === undefined) return false;
  const [from, to] = [seen.notBefore, seen.notBefore + SEEN_MS];
  const patience = PATIENCE_MS + history.stalls.between(from, to + PATIENCE_MS);
  if (closedAt < to + patience) return false;
  return !history.faults.some((fault) => {
    const isOurs = fault.node === node || dependencyOf(fault.kind) === 'redis';
    const margin = isOurs ? patience : 0;
    return (isOurs || fault.node !== undefined) && fault.from <= to + margin && fault.to >= from - PUSH_MS - margin;
  });
}
