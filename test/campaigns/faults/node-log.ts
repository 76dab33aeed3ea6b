import type { ClusterEvents, LogLine } from '../../support/cluster.ts';

/** What nodes said and how they ended. */
export class NodeLog implements ClusterEvents {
  /** Nodes that ended by themselves. */
  readonly exits: string[] = [];
  /** Ends of sessions that were logged, by the part of the id that is. */
  readonly ends = new Map<string, number>();
  /** What nodes said of sessions, by the part of the id that is logged. */
  readonly lines = new Map<string, string[]>();
  /** How often each fault of the product's own was logged. */
  readonly faults = new Map<string, number>();
  /** What nodes said of dependencies and faults, by this machine's clock. */
  readonly troubles: { readonly at: number; readonly node: number; readonly what: string }[] = [];
  /** How often a node ended before it was ready, by its last word. */
  readonly failedStarts = new Map<string, number>();

  onExit(node: number, how: string, lastLines: readonly string[]): void {
    this.exits.push(`node ${node} ended with ${how}:\n${lastLines.slice(-15).join('\n')}`);
  }

  onFailedStart(_node: number, lastLines: readonly string[]): void {
    const words = lastLines.findLast((line) => /^\S*(Error|Unavailable)|is not|cannot/i.test(line)) ?? lastLines.at(-1);
    count(this.failedStarts, words ?? 'nothing was printed');
  }

  onLine(node: number, { event, session, where, err, reason, dependency }: LogLine): void {
    if (event === 'session.ended' && session !== undefined) count(this.ends, session);
    if (session !== undefined) {
      // Not the line's own time: the node's clock is wrong.
      const line = `${new Date().toISOString().slice(11, 23)} node ${node} logs ${event} ${reason ?? ''}`;
      this.lines.set(session, [...(this.lines.get(session) ?? []), line]);
    }
    if (event === 'fault' || event === 'dependency.away')
      this.troubles.push({
        node,
        at: Date.now(),
        what: `${where} ${dependency ?? ''}: ${err?.cause?.message ?? err?.message}`,
      });
    if (event === 'fault') count(this.faults, `${where}: ${err?.message} ${err?.stack?.split('\n')[1]?.trim() ?? ''}`);
  }
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
