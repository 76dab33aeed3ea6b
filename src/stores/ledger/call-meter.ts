import { sumOf } from '../../protocol/price.ts';
import {
  addTokens,
  chargeOf,
  picoOfTime,
  type Basis,
  type CallMeter,
  type CallUsage,
  type UsageTotals,
} from './contract.ts';

/** A call's meter as stored: its charges, by how they are known, in millionths of a micro-dollar. */
export interface Meter extends Pick<CallMeter, 'callId' | 'basis' | 'tokens' | 'microDollars' | 'gapMs'> {
  readonly measured: bigint;
  readonly estimated: bigint;
  readonly reported: bigint;
  /** The highest total that a cumulative meter has shown. */
  readonly totalMs: number;
}

/** An entry that is stored under the key of a usage. */
export interface KeptEntry {
  readonly basis: Basis;
  readonly picoDollars: bigint;
  readonly tokens: number;
}

export interface Advance {
  readonly meter: Meter;
  /** What the usage adds to the totals. */
  readonly added: UsageTotals;
  /** The price of this usage alone. */
  readonly picoDollars: bigint;
}

/** A meter that has only seen this basis does not tell yet how the call's usage is known. */
function isOfPart(basis: Basis): boolean {
  return basis === 'reported' || basis === 'tool';
}

/**
 * The meter after a usage, and what the usage adds (docs/contract.md, section 5.12): the charge is what was measured plus the greater of what was
 * estimated and what was reported, rounded up. It never falls.
 * @param kept entries under the key of the usage
 * @returns undefined if it adds nothing: its key was counted already, or its total is not above the highest so far
 */
export function advance(meter: Meter, usage: CallUsage, kept: readonly KeptEntry[]): Advance | undefined {
  const isReport = usage.basis === 'reported';
  // What the provider says replaces a client's report; anything else under a known key is a repeat.
  if (kept.some(({ basis }) => isReport || basis !== 'reported')) return undefined;
  const totalMs = Math.max(meter.totalMs, usage.total?.ms ?? 0);
  if (usage.total !== null && totalMs === meter.totalMs) return undefined;
  const picoDollars = usage.picoDollars + priceOfTotal(meter, usage);
  const [told] = kept;
  const counted = sumOf(usage.tokens);
  const next = {
    ...meter,
    basis: isOfPart(meter.basis) && usage.basis !== 'tool' ? usage.basis : meter.basis,
    tokens: isReport ? meter.tokens : addTokens(meter.tokens, usage.tokens),
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

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
