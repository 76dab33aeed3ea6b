import type { TraceParent } from '../../kernel/trace-context.ts';

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
