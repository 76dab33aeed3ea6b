import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The business events of traces, part of `createEvents`. Neither headers nor the content of spans is logged. */
export function traceEvents(log: Log, metrics: Metrics) {
  let isAway = false;
  return {
    /**
     * The collector did not accept a batch of spans; logged once until it accepts one.
     * @param why a system error code or a status, never the collector's text
     */
    collectorAway(why: string): void {
      metrics.faults.inc({ dependency: 'collector' });
      metrics.activity.noteAway('collector');
      if (!isAway) log.warn({ event: 'collector.away', why });
      isAway = true;
    },

    collectorAnswered(): void {
      if (isAway) log.info({ event: 'collector.back' });
      isAway = false;
    },

    spansSent(count: number): void {
      metrics.spansSent.inc(count);
    },

    spansDropped(count: number): void {
      metrics.spansDropped.inc(count);
    },
  };
}
