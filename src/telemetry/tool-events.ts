import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Writes a line of a kind that may come in floods, with what tells of those that were left out. */
export type Within = (kind: string, write: (about: { readonly leftOut?: number }) => void) => void;

/** The business events of tools of the server, a part of `createEvents`. Neither arguments nor answers are told. */
export function toolEvents(log: Log, metrics: Metrics, within: Within) {
  return {
    /** A tool of the server was asked for. @param code why it gave no answer, else `answered` */
    toolCalled(tool: string, code: string, tookMs: number): void {
      metrics.tools.count(tool, code, tookMs);
    },

    /** A page answered a tool of the server in its place, or took its answer out. */
    toolForged(call: string): void {
      metrics.tools.forged.inc();
      within('tool forged', (left) => log.warn({ event: 'tool.forged', call, ...left }));
    },

    /** A header of a tool names a secret that its tenant does not have. */
    toolSecretMissing(tenantId: string, tool: string, secret: string): void {
      within('tool secret', (left) =>
        log.warn({ event: 'tool.secret_missing', tenantId, tool, missing: secret, ...left }),
      );
    },
  };
}
