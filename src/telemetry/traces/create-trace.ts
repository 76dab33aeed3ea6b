import {
  traceIdOf,
  traceParentFor,
  type KeptTrace,
  type TracedStep,
  type TraceParent,
} from '../../kernel/trace-context.ts';
import { refOf } from '../../kernel/ids.ts';
import { MINT_SPAN } from './session-spans.ts';

/** Steps of a create that have spans of their own, by name; all other steps are its admission. */
const SPANS: Readonly<Record<string, string>> = {
  quota: 'hold',
  slot: 'slot',
  'slot of the key': 'slot',
  mint: MINT_SPAN,
};
const ADMISSION = 'admit';

export interface CreateTraceOptions {
  /** The request's `traceparent`; undefined where it has none. */
  readonly header: TraceParent | undefined;
  /** Whether the session joins that trace; otherwise its own trace links to it. */
  readonly isFollowed: boolean;
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly isSampled: (traceId: string, parent: TraceParent | undefined) => boolean;
}

interface Decision extends Pick<KeptTrace, 'traceId' | 'isSampled'> {
  readonly isKept: boolean;
}

/** Measures the create of one session. */
export class CreateTrace {
  readonly #options: CreateTraceOptions;
  readonly #startedAt = performance.now();
  readonly #steps: TracedStep[] = [];
  #trace: Decision | undefined;
  #entered: string | undefined;
  #enteredMs = 0;

  constructor(options: CreateTraceOptions) {
    this.#options = options;
  }

  /** Starts the step of this name, which ends the one before. */
  enter(step: string): void {
    const name = SPANS[step] ?? ADMISSION;
    if (name === this.#entered) return;
    const atMs = round(performance.now() - this.#startedAt);
    if (this.#entered !== undefined) this.#steps.push({ name: this.#entered, fromMs: this.#enteredMs, toMs: atMs });
    this.#entered = name;
    this.#enteredMs = atMs;
  }

  /** What the create's last step saves for the session's spans; null where none will be made and no trace is followed. */
  kept(sessionId: string): KeptTrace | null {
    const { header, isFollowed, requestId, startedAtMs } = this.#options;
    const trace = this.#traceOf(sessionId);
    if (trace === undefined) return null;
    const { traceId, isSampled } = trace;
    return {
      traceId,
      isSampled,
      parentId: isFollowed ? (header?.spanId ?? null) : null,
      link: isFollowed || header === undefined ? null : { traceId: header.traceId, spanId: header.spanId },
      requestId,
      startedAtMs,
      steps: [...this.#steps],
    };
  }

  /** The `traceparent` to send to the provider with a mint; undefined where the session has no trace. */
  traceparentOfMint(sessionId: string): string | undefined {
    return traceParentFor(this.#traceOf(sessionId), MINT_SPAN, refOf(sessionId));
  }

  /** Decided once, because each trace belongs to one session. */
  #traceOf(sessionId: string): Pick<KeptTrace, 'traceId' | 'isSampled'> | undefined {
    this.#trace ??= this.#decide(sessionId);
    return this.#trace.isKept ? this.#trace : undefined;
  }

  #decide(sessionId: string): Decision {
    const { header, isFollowed, isSampled } = this.#options;
    const parent = isFollowed ? header : undefined;
    const traceId = parent?.traceId ?? traceIdOf(refOf(sessionId));
    const isMade = isSampled(traceId, parent);
    return { traceId, isSampled: isMade, isKept: isMade || parent !== undefined };
  }
}

/** Rounds to microseconds, the precision of the measurement. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

type OwnSampler = 'always_on' | 'always_off' | 'traceidratio';

/** The values of OTEL_TRACES_SAMPLER. */
export type SamplerName = OwnSampler | `parentbased_${OwnSampler}`;

/**
 * Whether spans are made of a trace: the same for the whole trace, on every node.
 * @param ratio share of traces, from 0 to 1, for samplers that use it
 * @param parent the span that is followed, if any; its own decision applies to parent-based samplers
 */
export function isSampled(
  sampler: SamplerName,
  ratio: number,
  traceId: string,
  parent: Pick<TraceParent, 'isSampled'> | undefined,
): boolean {
  const isBased = sampler.startsWith('parentbased_');
  if (isBased && parent !== undefined) return parent.isSampled;
  const own = isBased ? sampler.slice('parentbased_'.length) : sampler;
  return own === 'traceidratio' ? isWithin(traceId, ratio) : own === 'always_on';
}

/** Decides like TraceIdRatioBasedSampler of opentelemetry-js, so that other services with that sampler keep the same traces. */
function isWithin(traceId: string, ratio: number): boolean {
  let sum = 0;
  for (let at = 0; at < 32; at += 8) sum = (sum ^ Number.parseInt(traceId.slice(at, at + 8), 16)) >>> 0;
  return ratio >= 1 || sum < Math.floor(ratio * 0xffffffff);
}
