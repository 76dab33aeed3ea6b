import { type Clock, SECOND_MS } from '../../kernel/time.ts';
import { parseJson, post, PostFailure, type PostReply } from '../../kernel/post.ts';
import { type SpanTold, attributesOf } from './session-spans.ts';
import type { SpanName } from '../../kernel/trace-context.ts';

/** Spans in one request. */
const BATCH = 512;
/** How long the first span of a batch waits for others. */
const WAIT_MS = 5 * SECOND_MS;
/** Spans that may wait while the collector is slow or away, including those being sent. */
const MAX_WAITING = 2048;
const TIMEOUT_MS = 10 * SECOND_MS;
const MAX_REPLY_BYTES = 64 * 1024;
/** Delay before retrying a collector that is away; it doubles each time. */
const FIRST_RETRY_MS = 5 * SECOND_MS;
const MAX_RETRY_MS = 30 * SECOND_MS;
/** Statuses that are worth a retry (OTLP 1.7, Failures). */
const RETRIED = new Set([429, 502, 503, 504]);

export interface SpanExporterDeps {
  /** Where batches are sent, including the path. */
  readonly url: URL;
  /** They may contain credentials, and are never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly clock: Clock;
  readonly events: {
    /** @param why a system error code or a status */
    collectorAway(why: string): void;
    collectorAnswered(): void;
    spansSent(count: number): void;
    spansDropped(count: number): void;
  };
}

/** The result of sending a batch. */
type Outcome =
  | { readonly kind: 'taken'; readonly rejected: number }
  | { readonly kind: 'refused' | 'away'; readonly why: string };

/** Sends spans to a collector in batches of OTLP/HTTP JSON, in the background: nothing waits for it. Spans without room are counted and dropped. */
export class SpanExporter {
  readonly #deps: SpanExporterDeps;
  #waiting: SpanTold[] = [];
  #firstAtMs = 0;
  #retryMs = 0;
  #notBeforeMs = -Infinity;
  #sending: Promise<void> | undefined;
  readonly #breakOff = new AbortController();

  constructor(deps: SpanExporterDeps) {
    this.#deps = deps;
  }

  /** How many more spans it can hold. */
  get room(): number {
    return MAX_WAITING - this.#waiting.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(spans: readonly SpanTold[]): void {
    const taken = spans.slice(0, Math.max(0, this.room));
    if (this.#waiting.length === 0) this.#firstAtMs = this.#deps.clock.now();
    this.#waiting.push(...taken);
    if (taken.length < spans.length) this.#deps.events.spansDropped(spans.length - taken.length);
  }

  /** Sends what is due: full batches, and spans that have waited long enough. Never rejects. */
  tick(): Promise<void> {
    const now = this.#deps.clock.now();
    // A time in the future was set before the clock was set back.
    const isDue =
      this.#waiting.length >= BATCH || (this.#waiting.length > 0 && Math.abs(now - this.#firstAtMs) >= WAIT_MS);
    const isHeld = now < this.#notBeforeMs && this.#notBeforeMs <= now + MAX_RETRY_MS;
    return isDue && !isHeld ? this.#send() : Promise.resolve();
  }

  /** Resolves when nothing is being sent. */
  async sent(): Promise<void> {
    await this.#sending;
  }

  /**
   * Sends everything that waits, once, for at most `ms`; what cannot be sent by then is counted and dropped. Never rejects.
   * @param after calls back once the time is over
   */
  async close(ms: number, after: (ms: number, late: () => void) => () => void): Promise<void> {
    const callOff = after(ms, () => this.#breakOff.abort());
    await this.#sending;
    if (!this.#breakOff.signal.aborted && this.#retryMs === 0) await this.#send();
    callOff();
    if (this.#waiting.length > 0) this.#deps.events.spansDropped(this.#waiting.length);
    this.#waiting = [];
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Spans that arrive meanwhile wait for the next time. */
  async #sendAll(): Promise<void> {
    const { events, clock } = this.#deps;
    for (let left = this.#waiting.length; left > 0; left -= BATCH) {
      const batch = this.#waiting.slice(0, Math.min(BATCH, left));
      const outcome = await this.#exchange(batch);
      if (outcome.kind !== 'taken') events.collectorAway(outcome.why);
      if (outcome.kind === 'away') {
        this.#retryMs = Math.min(this.#retryMs === 0 ? FIRST_RETRY_MS : 2 * this.#retryMs, MAX_RETRY_MS);
        this.#notBeforeMs = clock.now() + this.#retryMs;
        return;
      }
      this.#waiting = this.#waiting.slice(batch.length);
      this.#retryMs = 0;
      const rejected = outcome.kind === 'taken' ? Math.min(outcome.rejected, batch.length) : batch.length;
      if (rejected > 0) events.spansDropped(rejected);
      if (outcome.kind === 'taken') {
        events.collectorAnswered();
        events.spansSent(batch.length - rejected);
      }
    }
    this.#firstAtMs = clock.now();
  }

  async #exchange(batch: readonly SpanTold[]): Promise<Outcome> {
    const { url, headers, resource, version } = this.#deps;
    let status = 0;
    try {
      const reply = await post({
        url,
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(traceRequest(resource, version, batch)),
        timeoutMs: TIMEOUT_MS,
        maxReplyBytes: MAX_REPLY_BYTES,
        onHead: (head) => (status = head.status),
        signal: this.#breakOff.signal,
      });
      if (isTaken(reply.status)) return { kind: 'taken', rejected: rejectedOf(reply) };
      return { kind: RETRIED.has(reply.status) ? 'away' : 'refused', why: String(reply.status) };
    } catch (fault) {
      // A collector that accepted the batch has it, whatever becomes of the rest of its reply.
      if (isTaken(status)) return { kind: 'taken', rejected: 0 };
      // The reply is longer than we read, so only the status counts.
      if (fault instanceof PostFailure && fault.kind === 'too_large')
        return { kind: RETRIED.has(status) ? 'away' : 'refused', why: fault.kind };
      return { kind: 'away', why: fault instanceof PostFailure ? (fault.detail ?? fault.kind) : 'fault' };
    }
  }
}

function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}

/** How many spans of a partly accepted batch were rejected. */
function rejectedOf({ text }: Pick<PostReply, 'text'>): number {
  const { partialSuccess } = (parseJson(text) ?? {}) as { partialSuccess?: { rejectedSpans?: unknown } };
  const rejected = Number(partialSuccess?.rejectedSpans ?? 0);
  return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
}

/** Kinds of spans: 1 within this service, 3 for a request to another server. */
const INTERNAL = 1;
const CLIENT = 3;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
/** Bits of a span's flags: it is sampled; whether it is known if its parent is in another process, and whether it is. */
const SAMPLED = 0x1;
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** An OTLP/HTTP request as JSON: ids in hexadecimal, 64-bit numbers as strings (OTLP 1.7, JSON Protobuf Encoding). */
function traceRequest(resource: Readonly<Record<string, string>>, version: string, spans: readonly SpanTold[]): object {
  const scope = { name: 'switchboard', version };
  return {
    resourceSpans: [{ resource: { attributes: listOf(resource) }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] }],
  };
}

function spanOf(span: SpanTold): object {
  const { traceId, spanId, parentId, link, name, fromMs, toMs, told, error } = span;
  return {
    traceId,
    spanId,
    ...(parentId !== null && { parentSpanId: parentId }),
    flags: SAMPLED | HAS_IS_REMOTE | (span.isParentRemote ? IS_REMOTE : 0),
    name,
    kind: span.isRequest ? CLIENT : INTERNAL,
    startTimeUnixNano: nanosOf(fromMs),
    endTimeUnixNano: nanosOf(toMs),
    attributes: listOf(attributesOf({ ...told, error })),
    links: link === null ? [] : [linkTo(link)],
    status: { code: error === null ? STATUS_UNSET : STATUS_ERROR },
  };
}

function linkTo({ traceId, spanId }: SpanName): object {
  return { traceId, spanId, flags: SAMPLED | HAS_IS_REMOTE | IS_REMOTE, attributes: [] };
}

/** Computed from seconds, because a number of milliseconds cannot hold fractions of a microsecond. */
function nanosOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return (BigInt(seconds) * 1_000_000_000n + BigInt(Math.round((ms - seconds * 1000) * 1e6))).toString();
}

function listOf(attributes: Readonly<Record<string, string | number>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number): object {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
