import { type Clock, SECOND_MS } from '../../kernel/time.ts';
import { deadline } from '../../kernel/async.ts';
import { parseTraceParent } from '../../kernel/trace-context.ts';
import { LATE_REPORT_MS } from '../../protocol/usage.ts';
import type { SessionTraces } from '../../stores/session-traces/contract.ts';
import { CreateTrace, isSampled, type SamplerName } from './create-trace.ts';
import { spansOf, type SpanTold } from './session-spans.ts';
import type { SpanExporter } from './span-exporter.ts';

/** How long after a session's end its spans are made: by then its webhooks are sent and its machines' events are saved. */
const HEARD_MS = 10 * SECOND_MS;
const AT_ONCE = 20;
/** How long a stop waits for the collector. */
const STOP_MS = 3 * SECOND_MS;
/** An upper estimate of the spans of a typical session. */
const USUAL_SPANS = 64;
/** With less room than a batch needs, sessions wait in the database. */
const LEAST_ROOM = 512;

export interface TracesDeps {
  readonly store: SessionTraces;
  /** Takes the spans of one session, each parent before its children. */
  readonly take: (spans: readonly SpanTold[]) => void;
  /** Undefined where the registered tracer sends its own spans. */
  readonly exporter: SpanExporter | undefined;
  readonly clock: Clock;
  readonly sampler: SamplerName;
  /** Share of traces, from 0 to 1. */
  readonly ratio: number;
  /** Whether traces of pages are joined, as those of back ends are. */
  readonly trustsPages: boolean;
  readonly after?: typeof deadline;
}

/** What a create's request says about its trace. */
interface CreateRequestTold {
  readonly isService: boolean;
  readonly request: {
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly requestId: string;
  };
}

/** The traces of voice sessions (docs/operations.md, Traces): creates are measured as they run; spans are made from saved data after the end. */
export class Traces {
  readonly #deps: TracesDeps;
  #taking: Promise<void> | undefined;

  constructor(deps: TracesDeps) {
    this.#deps = deps;
  }

  /** Whether this process sends spans to a collector. */
  get hasCollector(): boolean {
    return this.#deps.exporter !== undefined;
  }

  /** Starts measuring a create. */
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

  /** Makes the spans of ended sessions, and sends what is due. @throws Unavailable when the database is away; sessions wait there */
  async tick(): Promise<void> {
    const { exporter } = this.#deps;
    // Not awaited: a slow collector must not delay taking sessions.
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

  /** Sends what waits, for no longer than a stop may take. Never rejects. */
  async close(): Promise<void> {
    await this.#deps.exporter?.close(STOP_MS, this.#deps.after ?? deadline);
  }

  async #takeAll(): Promise<void> {
    const { store, take, exporter, clock } = this.#deps;
    const now = clock.now();
    const due = { heardBeforeMs: now - HEARD_MS, directBeforeMs: now - LATE_REPORT_MS };
    for (let room = Infinity; ;) {
      room = exporter?.room ?? Infinity;
      if (room < LEAST_ROOM) return;
      const limit = Math.min(AT_ONCE, Math.floor(room / USUAL_SPANS));
      const sessions = await store.take({ ...due, limit });
      for (const session of sessions) take(spansOf(session));
      if (sessions.length < limit) return;
    }
  }
}
