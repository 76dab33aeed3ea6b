import {
  context,
  createContextKey,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type HrTime,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import type { SpanName } from '../../kernel/trace-context.ts';
import { attributesOf, type SpanTold } from './session-spans.ts';

/**
 * Context key for a span's predetermined ids, which servers were told before the span is made. An id generator of the official SDK can read
 * them there (examples/telemetry/otel.mjs); without one, spans get ids of the SDK.
 */
const SPAN_NAME = createContextKey('switchboard span name');

/** Makes the spans with a registered tracer. @param spans each parent before its children */
export function makeSpans(tracer: Tracer, spans: readonly SpanTold[]): void {
  const made = new Map<string, Span>();
  for (const told of spans) {
    const inParent = contextOf(told, made.get(told.parentId ?? ''));
    const { traceId, spanId, link } = told;
    const named = inParent.setValue(SPAN_NAME, { traceId, spanId } satisfies SpanName);
    const options = {
      kind: told.isRequest ? SpanKind.CLIENT : SpanKind.INTERNAL,
      startTime: timeOf(told.fromMs),
      attributes: attributesOf({ ...told.told, error: told.error }),
      ...(link !== null && { links: [{ context: remote(link) }] }),
    };
    const span = context.with(named, () => tracer.startSpan(told.name, options, named));
    if (told.error !== null) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(timeOf(told.toMs));
    made.set(told.spanId, span);
  }
}

function contextOf({ traceId, parentId }: SpanTold, parent: Span | undefined): Context {
  if (parent !== undefined) return trace.setSpan(ROOT_CONTEXT, parent);
  if (parentId === null) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, remote({ traceId, spanId: parentId }));
}

/** Always sampled, because spans are only made of sampled traces. */
function remote({ traceId, spanId }: SpanName): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** Seconds and nanoseconds, because a number of milliseconds cannot hold fractions of a microsecond. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
