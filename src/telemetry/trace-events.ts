import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The business events of traces, a part of `createEvents`. Neither headers nor what is in a span is told. */
export function traceEvents(log: Log, metrics: Metrics) {
  let isAway = false;
  return {
    /** A batch of spans was not taken: it is told once until one is. @param why a system error code or a status, never words of the collector */
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
      metrics.traces.sent.inc(count);
    },

    spansDropped(count: number): void {
      metrics.traces.dropped.inc(count);
    },
  };
}
