import { clip } from '../kernel/text.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Within } from './tool-events.ts';

const MAX_MODEL_LENGTH = 256;

/** The business events of the meter of calls, part of `createEvents`. */
export function meterEvents(log: Log, metrics: Metrics, within: Within) {
  return {
    /** @param basis how the usage is known, or that it is estimated */
    usageMetered(model: string, basis: string, tokens: number, microDollars: number): void {
      metrics.meteredTokens.inc({ model, basis }, tokens);
      metrics.meteredMicroDollars.inc({ model, basis }, microDollars);
    },

    usageUnreadable(call: string): void {
      metrics.usageUnreadable.inc();
      within('usage unreadable', (about) => log.warn({ event: 'usage.unreadable', call, ...about }));
    },

    /** Usage that is not counted anywhere. */
    usageLost(call: string): void {
      metrics.usageLost.inc();
      within('usage lost', (about) => log.error({ event: 'usage.lost', call, ...about }));
    },

    /** A model is priced at the highest rates, because no list has it. */
    modelUnpriced(model: string): void {
      within('model unpriced', (about) =>
        log.warn({ event: 'model.unpriced', model: clip(model, MAX_MODEL_LENGTH), ...about }),
      );
    },

    /** Our count of a day differs from the provider's, and nothing explains it (docs/operations.md, Reconciliation). */
    meterDrifted(told: {
      readonly day: string;
      readonly upstream: string;
      readonly unexplainedMicroDollars: number;
    }): void {
      const { day, upstream, unexplainedMicroDollars } = told;
      log.warn({ event: 'meter.drift', day, upstream, unexplainedDollars: unexplainedMicroDollars / 1_000_000 });
    },
  };
}
