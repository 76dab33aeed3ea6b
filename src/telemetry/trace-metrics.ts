import { Counter, type Registry } from 'prom-client';

/** The metrics of traces. */
export class TraceMetrics {
  readonly sent: Counter;
  readonly dropped: Counter;

  constructor(registers: Registry[]) {
    this.sent = new Counter({
      name: 'switchboard_trace_spans_sent_total',
      help: 'Spans that the collector took',
      registers,
    });
    this.dropped = new Counter({
      name: 'switchboard_trace_spans_dropped_total',
      help: 'Spans for which there was no room, or that the collector refused',
      registers,
    });
  }
}
