import {
  context as contexts,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type TimeInput,
  type Tracer,
} from '@opentelemetry/api';
import { spanIdOf, type SpanName } from '../../kernel/trace-context.ts';
import { randomId } from '../../kernel/ids.ts';
import { SPAN_NAME } from './make-spans.ts';
import type { EndedSpan } from './otlp.ts';

/**
 * A tracer that replaces the official SDK, which needs a newer Node than we do. It supports what `makeSpans` needs. Sessions are sampled
 * before their spans are made, so every span is recorded.
 * @param onEnd called once with each span
 */
export function createTracer(onEnd: (span: EndedSpan) => void): Tracer {
  function startSpan(name: string, options: SpanOptions = {}, context: Context = contexts.active()): Span {
    const parent = options.root === true ? undefined : trace.getSpanContext(context);
    return new RecordingSpan(name, options, nameOf(context, parent), parent, onEnd);
  }

  function startActiveSpan(name: string, ...rest: readonly unknown[]): unknown {
    const run = rest.at(-1) as (span: Span) => unknown;
    const [options, context = contexts.active()] = rest.slice(0, -1) as [SpanOptions?, Context?];
    const span = startSpan(name, options, context);
    return contexts.with(trace.setSpan(context, span), run, undefined, span);
  }

  return { startSpan, startActiveSpan };
}

function nameOf(context: Context, parent: SpanContext | undefined): SpanName {
  const given = context.getValue(SPAN_NAME) as SpanName | undefined;
  if (given !== undefined) return given;
  const traceId = parent?.traceId ?? spanIdOf('', randomId()) + spanIdOf('', randomId());
  return { traceId, spanId: spanIdOf(traceId, randomId()) };
}

/** Records what is set on it until it ends. */
class RecordingSpan implements Span {
  readonly #context: SpanContext;
  readonly #parent: SpanContext | undefined;
  readonly #kind: SpanKind;
  readonly #start: HrTime;
  readonly #attributes: Attributes;
  readonly #links: Link[];
  readonly #onEnd: (span: EndedSpan) => void;
  #name: string;
  #status: SpanStatus = { code: SpanStatusCode.UNSET };
  #hasEnded = false;

  constructor(
    name: string,
    { kind = SpanKind.INTERNAL, startTime, attributes = {}, links = [] }: SpanOptions,
    named: SpanName,
    parent: SpanContext | undefined,
    onEnd: (span: EndedSpan) => void,
  ) {
    this.#name = name;
    this.#context = { ...named, traceFlags: TraceFlags.SAMPLED };
    this.#parent = parent;
    this.#kind = kind;
    this.#start = hrTimeOf(startTime);
    this.#attributes = { ...attributes };
    this.#links = [...links];
    this.#onEnd = onEnd;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  setAttribute(key: string, value: Attributes[string]): this {
    if (!this.#hasEnded) this.#attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const [key, value] of Object.entries(attributes)) this.setAttribute(key, value);
    return this;
  }

  addLink(link: Link): this {
    return this.addLinks([link]);
  }

  addLinks(links: Link[]): this {
    if (!this.#hasEnded) this.#links.push(...links);
    return this;
  }

  setStatus(status: SpanStatus): this {
    if (!this.#hasEnded) this.#status = status;
    return this;
  }

  updateName(name: string): this {
    if (!this.#hasEnded) this.#name = name;
    return this;
  }

  /** Does nothing: spans of sessions have no events, and nothing else starts spans here. */
  addEvent(): this {
    return this;
  }

  recordException(): void {}

  isRecording(): boolean {
    return !this.#hasEnded;
  }

  end(endTime?: TimeInput): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd({
      context: this.#context,
      parent: this.#parent,
      name: this.#name,
      kind: this.#kind,
      start: this.#start,
      end: hrTimeOf(endTime),
      attributes: this.#attributes,
      links: this.#links,
      status: this.#status,
    });
  }
}

function hrTimeOf(time: TimeInput = Date.now()): HrTime {
  if (Array.isArray(time)) return time;
  const ms = typeof time === 'number' ? time : time.getTime();
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
