import type { SpanName } from '../../kernel/trace-context.ts';
import { attributesOf } from './attributes.ts';
import type { SpanTold } from './session-spans.ts';

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
export function traceRequest(
  resource: Readonly<Record<string, string>>,
  version: string,
  spans: readonly SpanTold[],
): object {
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
