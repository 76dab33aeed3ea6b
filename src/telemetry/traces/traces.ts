import type { Tracer } from '@opentelemetry/api';
import type { Clock } from '../../kernel/clock.ts';
import { deadline } from '../../kernel/deadline.ts';
import { parseTraceParent } from '../../kernel/trace-context.ts';
import { MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import type { SessionTraces } from '../../stores/session-traces/contract.ts';
import { CreateTrace } from './create-trace.ts';
import { makeSpans } from './make-spans.ts';
import { isSampled, type SamplerName } from './sampler.ts';
import { spansOf } from './session-spans.ts';
import type { SpanExporter } from './span-exporter.ts';

/** So long after its end the spans of a session are made: what it told webhooks is sent by then, and what machines did is written. */
const HEARD_MS = 10 * SECOND_MS;
/** Of one whose calls nobody here hears: so long its client may report what it used (`DIRECT_MS` of the webhooks). */
const DIRECT_MS = 5 * MINUTE_MS;
const AT_ONCE = 20;
/** What a stop waits for the collector. */
const STOP_MS = 3 * SECOND_MS;
/** A usual session has fewer spans. */
const USUAL_SPANS = 64;
/** Sessions wait in the database where there is no room for a batch more. */
const LEAST_ROOM = 512;

export interface TracesDeps {
  readonly store: SessionTraces;
  readonly tracer: Tracer;
  /** Undefined where whoever registered the tracer sends its spans. */
  readonly exporter: SpanExporter | undefined;
  readonly clock: Clock;
  readonly sampler: SamplerName;
  /** Of traces, from 0 to 1. */
  readonly ratio: number;
  /** Whether traces of pages are followed, as those of back ends are. */
  readonly trustsPages: boolean;
  readonly after?: typeof deadline;
}

/** What the request of a create says of where it belongs. */
interface CreateRequestTold {
  readonly isService: boolean;
  readonly request: {
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly requestId: string;
  };
}

/** The traces of voice sessions (docs/operations.md, Traces): measured as they are created, made of what is kept once they are over. */
export class Traces {
  readonly #deps: TracesDeps;
  #taking: Promise<void> | undefined;

  constructor(deps: TracesDeps) {
    this.#deps = deps;
  }

  /** Whether spans are sent to a collector from here. */
  get hasCollector(): boolean {
    return this.#deps.exporter !== undefined;
  }

  /** Measures a create that begins now. */
  begin({ isService, request }: CreateRequestTold): CreateTrace {
    const { clock, sampler, ratio, trustsPages } = this.#deps;
    return new CreateTrace({
      header: parseTraceParent(request.headers['traceparent']),
      isFollowed: isService || trustsPages,
      requestId: request.requestId,
      startedAtMs: clock.now(),
      isSampled: (traceId, parent) => isSampled(sampler, ratio, traceId, parent),
    });
  }

  /** Makes the spans of sessions that are over, and sends what is due. @throws Unavailable when the database is away: sessions wait there */
  async tick(): Promise<void> {
    const { exporter } = this.#deps;
    // Whoever waits for a slow collector must not hold up the taking.
    void exporter?.tick();
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = undefined;
    });
    await this.#taking;
  }

  /** Resolves when nothing is being sent. */
  async sent(): Promise<void> {
    await this.#deps.exporter?.sent();
  }

  /** Sends what waits, and waits no longer than a stop may. Never rejects. */
  async close(): Promise<void> {
    await this.#deps.exporter?.close(STOP_MS, this.#deps.after ?? deadline);
  }

  async #takeAll(): Promise<void> {
    const { store, tracer, exporter, clock } = this.#deps;
    const now = clock.now();
    const due = { heardBeforeMs: now - HEARD_MS, directBeforeMs: now - DIRECT_MS };
    for (let room = Infinity; ;) {
      room = exporter?.room ?? Infinity;
      if (room < LEAST_ROOM) return;
      const limit = Math.min(AT_ONCE, Math.floor(room / USUAL_SPANS));
      const sessions = await store.take({ ...due, limit });
      for (const session of sessions) makeSpans(tracer, spansOf(session));
      if (sessions.length < limit) return;
    }
  }
}
