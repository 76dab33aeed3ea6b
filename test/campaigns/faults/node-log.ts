import type { ClusterEvents, LogLine } from '../../support/cluster.ts';

/** What nodes logged and how they ended. */
export class NodeLog implements ClusterEvents {
  /** Nodes that ended without being told to. */
  readonly exits: string[] = [];
  /** How often the end of each session was logged, by the part of the id that is logged. */
  readonly ends = new Map<string, number>();
  /** What nodes logged about each session, by the part of the id that is logged. */
  readonly lines = new Map<string, string[]>();
  /** How often each internal fault was logged. */
  readonly faults = new Map<string, number>();
  /** What nodes logged about dependencies and faults, at this machine's time. */
  readonly troubles: { readonly at: number; readonly node: number; readonly what: string }[] = [];
  /** How often nodes ended before they were ready, by their last output. */
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
      // Does not use the line's own time: the node's clock is wrong.
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
