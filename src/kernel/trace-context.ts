import { hash } from 'node:crypto';

/** Identifies one span among all traces, as in W3C Trace Context. */
export interface SpanName {
  /** 32 hexadecimal digits in lower case, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits in lower case, not all zero. */
  readonly spanId: string;
}

export interface TraceParent extends SpanName {
  readonly isSampled: boolean;
}

/** What is kept for a session's trace until its spans are made: where the trace belongs, and how long the steps of the create took. */
export interface KeptTrace {
  readonly traceId: string;
  /** Whether spans are made from it; if not, it is kept only to be passed on to servers. */
  readonly isSampled: boolean;
  /** The span of a back end that is the session's parent; null if the session begins a trace. */
  readonly parentId: string | null;
  /** The span of a page that asked for the session; null if it sent none, or if the session follows that trace (then it is `parentId`). */
  readonly link: SpanName | null;
  readonly requestId: string;
  /** When the create began. */
  readonly startedAtMs: number;
  /** Parts of the create, in milliseconds since it began. */
  readonly steps: readonly TracedStep[];
}

export interface TracedStep {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Version, trace, parent, flags (W3C Trace Context, section 3.2); later versions may append more. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** What a `traceparent` header says; undefined for an invalid one, which the recommendation says to ignore. */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  if (header === undefined || header.length > 512) return undefined;
  const [, version = 'ff', traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? [];
  const isOfVersion = version === '00' ? more === undefined : version !== 'ff';
  if (!isOfVersion || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** The trace id of a session that arrives without a trace: the same on every node. @param ref of the session */
export function traceIdOf(ref: string): string {
  return digits(`trace ${ref}`, 16);
}

/**
 * The id of a span in a trace. It is the same on every node, so that a server can be told the id of a span that is made much later.
 * @param name identifies the span within its trace, such as `execute_tool` and the id of the tool call
 */
export function spanIdOf(traceId: string, ...name: readonly string[]): string {
  return digits(JSON.stringify([traceId, ...name]), 8);
}

/** The `traceparent` for a request to a server, from its session's trace; undefined if the session has none. @param name see `spanIdOf` */
export function traceParentFor(
  trace: Pick<KeptTrace, 'traceId' | 'isSampled'> | null | undefined,
  ...name: readonly string[]
): string | undefined {
  if (trace == null) return undefined;
  return `00-${trace.traceId}-${spanIdOf(trace.traceId, ...name)}-${trace.isSampled ? '01' : '00'}`;
}

/** All zero only once in 2^64. */
function digits(text: string, bytes: number): string {
  return hash('sha256', text, 'hex').slice(0, 2 * bytes);
}
