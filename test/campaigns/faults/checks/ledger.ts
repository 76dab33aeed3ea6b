import type { Entry } from '../../../support/journal.ts';
import type { History } from '../history.ts';

/** The report that crosses the ceiling is counted too. */
function isAcknowledged({ outcome, code }: Entry): boolean {
  return outcome === 200 || (outcome === 429 && code === 'DAILY_QUOTA_EXCEEDED');
}

/** The ledger holds every acknowledged report once, every other report at most once, and nothing else. */
export function checkLedger({ journal, ledger, totals }: History): string[] {
  const violations: string[] = [];
  const rows = new Map<string, number[]>();
  const sums = new Map<string, number>();
  for (const { key, tokens, subject, callId } of ledger) {
    if (callId === null) rows.set(key ?? '', [...(rows.get(key ?? '') ?? []), tokens]);
    sums.set(subject, (sums.get(subject) ?? 0) + tokens);
  }
  const reports = new Map<string, Entry[]>();
  for (const entry of journal.of('usage')) {
    const key = entry.about.key ?? '';
    reports.set(key, [...(reports.get(key) ?? []), entry]);
  }
  for (const [key, attempts] of reports) {
    const found = rows.get(key) ?? [];
    const tokens = attempts[0]?.about.tokens ?? 0;
    if (attempts.some(isAcknowledged) && found.length !== 1)
      violations.push(`report ${key} of ${tokens} tokens was acknowledged and is in the ledger ${found.length} times`);
    else if (found.length > 1) violations.push(`report ${key} is in the ledger ${found.length} times`);
    if (found.some((counted) => counted !== tokens))
      violations.push(`report ${key} of ${tokens} tokens is in the ledger with ${found.join(', ')}`);
  }
  for (const key of rows.keys()) if (!reports.has(key)) violations.push(`nobody sent the report ${key} of the ledger`);
  for (const [subject, sum] of sums)
    if (totals.get(subject) !== sum)
      violations.push(`the entries of ${subject} add up to ${sum}, its total is ${totals.get(subject)}`);
  return violations;
}
