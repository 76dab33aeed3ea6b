import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Tools that get a label of their own: tenants may define any number of them. */
const MAX_LABELS = 100;

/** Writes a line of a kind that may come in floods, unless the budget is spent; the line says how many were left out before it. */
export type Within = (kind: string, write: (about: { readonly leftOut?: number }) => void) => void;

/** The business events of server tools, part of `createEvents`. Neither arguments nor answers are logged. */
export function toolEvents(log: Log, metrics: Metrics, within: Within) {
  const labels = new Set<string>();
  return {
    /** A server tool was called. @param code why it gave no answer, otherwise `answered` */
    toolCalled(tool: string, code: string, tookMs: number): void {
      if (labels.size < MAX_LABELS) labels.add(tool);
      metrics.toolCalls.inc({ tool: labels.has(tool) ? tool : 'other', code });
      metrics.toolCallSeconds.observe({ code }, tookMs / 1000);
    },

    /** A page answered in place of a server tool, or removed its answer. */
    toolForged(call: string): void {
      metrics.toolAnswersForged.inc();
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
