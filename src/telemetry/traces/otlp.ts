import type { Attributes, HrTime, Link, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api';

/** A finished span, ready to be sent. */
export interface EndedSpan {
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly start: HrTime;
  readonly end: HrTime;
  readonly attributes: Attributes;
  readonly links: readonly Link[];
  readonly status: SpanStatus;
}

/** Bits of a span's flags: whether it is known if its parent is in another process, and whether it is. */
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** An OTLP/HTTP request as JSON: ids in hexadecimal, 64-bit numbers as strings (OTLP 1.7, JSON Protobuf Encoding). */
export function traceRequest(
  resource: Readonly<Record<string, string>>,
  version: string,
  spans: readonly EndedSpan[],
): object {
  const scope = { name: 'switchboard', version };
  return {
    resourceSpans: [{ resource: { attributes: listOf(resource) }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] }],
  };
}

function spanOf({ context, parent, name, kind, start, end, attributes, links, status }: EndedSpan): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parent !== undefined && { parentSpanId: parent.spanId }),
    flags: flagsOf(context, parent),
    name,
    // The protocol counts from 1, where the API counts from 0.
    kind: kind + 1,
    startTimeUnixNano: nanosOf(start),
    endTimeUnixNano: nanosOf(end),
    attributes: listOf(attributes),
    links: links.map((link) => ({
      traceId: link.context.traceId,
      spanId: link.context.spanId,
      flags: flagsOf(link.context, link.context),
      attributes: listOf(link.attributes ?? {}),
    })),
    status: { code: status.code, ...(status.message !== undefined && { message: status.message }) },
  };
}

function flagsOf({ traceFlags }: SpanContext, parent: SpanContext | undefined): number {
  return traceFlags | HAS_IS_REMOTE | (parent?.isRemote === true ? IS_REMOTE : 0);
}

function nanosOf([seconds, nanos]: HrTime): string {
  return (BigInt(seconds) * 1_000_000_000n + BigInt(nanos)).toString();
}

function listOf(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: Attributes[string]): object {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { stringValue: String(value) };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
