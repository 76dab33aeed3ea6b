import { chargeOf } from '../../../../src/stores/ledger/contract.ts';
import type { CallRow, History, LedgerRow } from '../history.ts';
import { billOf, sumOf, type Billed } from './bill.ts';

/** Gaps are recorded by the shared clock, which may differ from ours by this much; events also take a while to arrive. */
const CLOCK_MS = 250;

/**
 * Whatever the provider bills is counted exactly once under its response's id, or else it falls into a marked gap or is covered by an estimate
 * of that response. Everything else that is counted is marked as estimated, and the meter is the sum of its entries.
 */
export function checkMeters({ provided, calls, ledger }: History): string[] {
  const entries = new Map<string, LedgerRow[]>();
  for (const entry of ledger)
    if (entry.callId !== null) entries.set(entry.callId, [...(entries.get(entry.callId) ?? []), entry]);
  return provided.flatMap((call) => {
    const row = calls.get(call.id);
    // In a call that was never open, or whose answer no page has, no one speaks, so what the stand-in says there does not count.
    if (row === undefined || row.openedAtMs === null || row.closeReason === 'create_failed') return [];
    const found = wrongsOf(row, billOf(call), entries.get(row.id) ?? []);
    return found.map((what) => `${row.sessionId} ${row.id} (${row.closeReason}) ${what}`);
  });
}

function wrongsOf(row: CallRow, bill: readonly Billed[], entries: readonly LedgerRow[]): string[] {
  const told = entries.filter(({ isEstimated }) => !isEstimated);
  const estimated = entries.filter(({ isEstimated }) => isEstimated);
  const isLike = (entry: LedgerRow, { id, tokens, pico }: Billed): boolean =>
    entry.key === id && entry.tokens === tokens && entry.pico === pico;
  const wrongs = told
    .filter((entry) => !bill.some((billed) => isLike(entry, billed)))
    .map(({ key, tokens }) => `counted ${tokens} tokens for ${key}, which nobody billed so`);
  const keys = new Set(entries.map(({ key }) => key));
  if (keys.size < entries.length) wrongs.push('counted something twice');
  for (const billed of bill) {
    const isTold = told.some((entry) => isLike(entry, billed));
    if (!isTold && !estimated.some((entry) => covers(entry, billed)))
      wrongs.push(
        `counted nothing of the ${billed.tokens} tokens of ${billed.id} at ${clock(billed.atMs)}: its gaps are ${gapsOf(estimated) || 'none'}`,
      );
  }
  const sum = sumOf(entries);
  const [measured, guessed] = [sumOf(told).pico, sumOf(estimated).pico];
  const charge = chargeOf(measured + guessed);
  if (row.tokens !== sum.tokens || row.picoMeasured !== measured || row.picoEstimated !== guessed)
    wrongs.push(`has ${row.tokens} tokens on its meter, and ${sum.tokens} in its entries`);
  else if (row.microDollars !== charge) wrongs.push(`charged ${row.microDollars} instead of ${charge}`);
  return wrongs;
}

/** The entry is a gap that includes the response's time, or an estimate under the response's id that is high enough. */
function covers(entry: LedgerRow, billed: Billed): boolean {
  if (entry.key === billed.id) return entry.tokens >= billed.tokens;
  const fromMs = gapStart(entry);
  return fromMs !== undefined && billed.atMs >= fromMs - CLOCK_MS && billed.atMs <= entry.atMs + CLOCK_MS;
}

function gapStart({ key }: LedgerRow): number | undefined {
  const [, fromMs] = /^gap:(\d+)$/.exec(key ?? '') ?? [];
  return fromMs === undefined ? undefined : Number(fromMs);
}

function gapsOf(entries: readonly LedgerRow[]): string {
  const gaps = entries.flatMap((entry) => {
    const fromMs = gapStart(entry);
    return fromMs === undefined ? [] : [`${clock(fromMs)} to ${clock(entry.atMs)}`];
  });
  return gaps.sort().join(', ');
}

function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23);
}
