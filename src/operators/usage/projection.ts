import type { Ceilings } from '../../quota/ceilings.ts';
import type { UsageTotals } from '../../stores/ledger/contract.ts';

/** Usage from an instant until now. */
export interface Recent {
  readonly used: UsageTotals;
  readonly sinceMs: number;
}

/** What a day's total comes to at its end, at the recent rate. @param endsAtMs end of the day */
export function projectTo(spent: UsageTotals, recent: Recent, atMs: number, endsAtMs: number): UsageTotals {
  const times = Math.max(0, endsAtMs - atMs) / Math.max(1, atMs - recent.sinceMs);
  return {
    tokens: Math.round(spent.tokens + recent.used.tokens * times),
    microDollars: Math.round(spent.microDollars + recent.used.microDollars * times),
  };
}

/**
 * When a total reaches the first of its ceilings at the recent rate: now where it already has; undefined where the day ends first.
 * @param endsAtMs end of the day
 */
export function reachesAtMs(
  spent: UsageTotals,
  recent: Recent,
  { dailyTokens, dailyMicroDollars }: Ceilings,
  atMs: number,
  endsAtMs: number,
): number | undefined {
  const elapsedMs = Math.max(1, atMs - recent.sinceMs);
  const lastsMs = (left: number, used: number): number => {
    if (left <= 0) return 0;
    return used > 0 ? (left / used) * elapsedMs : Infinity;
  };
  const reachedMs =
    atMs +
    Math.min(
      lastsMs(dailyTokens - spent.tokens, recent.used.tokens),
      lastsMs(dailyMicroDollars - spent.microDollars, recent.used.microDollars),
    );
  return reachedMs < endsAtMs ? Math.round(reachedMs) : undefined;
}

/** The share of the dollars, or of the tokens where nothing costs dollars. From 0 to 1. */
export function shareOf(part: UsageTotals, whole: UsageTotals): number {
  const share =
    whole.microDollars > 0 ? part.microDollars / whole.microDollars : whole.tokens > 0 ? part.tokens / whole.tokens : 0;
  return Math.round(share * 10_000) / 10_000;
}
