import { sumOf } from '../../protocol/price.ts';
import { chargeOf, picoOfTime, type Basis, type CallMeter, type CallUsage, type UsageTotals } from './contract.ts';

/** A call's meter as it is kept: what it is charged for, by where it is known from, in millionths of a micro-dollar. */
export interface Meter extends Pick<CallMeter, 'callId' | 'basis' | 'tokens' | 'microDollars' | 'gapMs'> {
  readonly measured: bigint;
  readonly estimated: bigint;
  readonly reported: bigint;
  /** The highest total of a cumulative meter. */
  readonly totalMs: number;
}

/** An entry that is kept under the key of a usage. */
export interface KeptEntry {
  readonly basis: Basis;
  readonly picoDollars: bigint;
  readonly tokens: number;
}

export interface Advance {
  readonly meter: Meter;
  /** What is added to the totals. */
  readonly added: UsageTotals;
  /** The price of the usage alone. */
  readonly picoDollars: bigint;
}

/** A meter that knows no more than this does not tell yet how the call's usage is known. */
function isOfPart(basis: Basis): boolean {
  return basis === 'reported' || basis === 'tool';
}

/**
 * The meter after a usage, and what it adds (docs/contract.md, section 5.12): the charge is what was measured, and the greater of what was
 * estimated and what was reported, rounded up. It never falls.
 * @param kept entries under the key of the usage
 * @returns undefined for what adds nothing: its key was counted, or its total is not above the highest
 */
export function advance(meter: Meter, usage: CallUsage, kept: readonly KeptEntry[]): Advance | undefined {
  const isReport = usage.basis === 'reported';
  // The provider's own word takes the place of a client's; all else under a known key is a repeat.
  if (kept.some(({ basis }) => isReport || basis !== 'reported')) return undefined;
  const totalMs = Math.max(meter.totalMs, usage.total?.ms ?? 0);
  if (usage.total !== null && totalMs === meter.totalMs) return undefined;
  const picoDollars = usage.picoDollars + priceOfTotal(meter, usage);
  const [told] = kept;
  const counted = sumOf(usage.tokens);
  const next = {
    ...meter,
    basis: isOfPart(meter.basis) && usage.basis !== 'tool' ? usage.basis : meter.basis,
    tokens: isReport ? meter.tokens : plus(meter.tokens, usage.tokens),
    measured: meter.measured + (isReport || usage.isEstimated ? 0n : picoDollars),
    estimated: meter.estimated + (usage.isEstimated ? picoDollars : 0n),
    reported: meter.reported + (isReport ? picoDollars : 0n) - (told?.picoDollars ?? 0n),
    totalMs,
    gapMs: meter.gapMs + usage.gapMs,
  };
  const charge = chargeOf(next.measured + greater(next.estimated, next.reported));
  const microDollars = Math.max(meter.microDollars, charge);
  return {
    meter: { ...next, microDollars },
    added: { tokens: Math.max(0, counted - (told?.tokens ?? 0)), microDollars: microDollars - meter.microDollars },
    picoDollars,
  };
}

export function viewOf(meter: Meter): CallMeter {
  const { callId, basis, tokens, microDollars, gapMs, estimated, reported } = meter;
  const estimatedMicroDollars = chargeOf(greater(estimated, reported) - reported);
  return { callId, basis, tokens, microDollars, estimatedMicroDollars, gapMs };
}

function priceOfTotal({ totalMs }: Meter, { total }: CallUsage): bigint {
  return total === null ? 0n : picoOfTime(total.ms, total.perMinute) - picoOfTime(totalMs, total.perMinute);
}

function plus(a: CallUsage['tokens'], b: CallUsage['tokens']): CallUsage['tokens'] {
  return {
    textIn: a.textIn + b.textIn,
    textCached: a.textCached + b.textCached,
    textOut: a.textOut + b.textOut,
    audioIn: a.audioIn + b.audioIn,
    audioCached: a.audioCached + b.audioCached,
    audioOut: a.audioOut + b.audioOut,
    imageIn: a.imageIn + b.imageIn,
    imageCached: a.imageCached + b.imageCached,
  };
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
