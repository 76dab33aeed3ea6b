import type { CountChange } from '../../stores/activity/contract.ts';

/** The mints of one provider. */
export interface Mints {
  readonly provider: string;
  readonly ok: number;
  readonly failed: number;
  /** Failed mints by outcome. */
  readonly byOutcome: ReadonlyMap<string, number>;
  /** The time within which 95 of 100 successful mints were answered; null where none succeeded. */
  readonly p95Sec: number | null;
}

/** The last step is open-ended; its end counts as twice its start, as in all other steps. */
const AFTER_LAST_SEC = 16;

/** Reads the counts of mints, whose labels are `<provider>|<outcome>|<step>`, by provider. */
export function readMints(moved: readonly CountChange[], span: 'now' | 'before'): Mints[] {
  const byProvider = new Map<string, { outcome: string; mostSec: number; n: number }[]>();
  for (const { kind, label, [span]: n } of moved) {
    const [provider = '', outcome = '', step = ''] = label.split('|');
    if (kind !== 'mint' || n === 0) continue;
    const counts = byProvider.get(provider) ?? [];
    counts.push({ outcome, mostSec: step.startsWith('≤') ? Number(step.slice(1)) : AFTER_LAST_SEC, n });
    byProvider.set(provider, counts);
  }
  return [...byProvider].map(([provider, counts]) => {
    const succeeded = counts.filter(({ outcome }) => outcome === 'ok');
    const byOutcome = new Map<string, number>();
    for (const { outcome, n } of counts)
      if (outcome !== 'ok') byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + n);
    return {
      provider,
      ok: succeeded.reduce((total, { n }) => total + n, 0),
      failed: [...byOutcome.values()].reduce((total, n) => total + n, 0),
      byOutcome,
      p95Sec: p95(succeeded),
    };
  });
}

/** Assumes that counts are spread evenly within a step. */
function p95(steps: readonly { readonly mostSec: number; readonly n: number }[]): number | null {
  const total = steps.reduce((sum, { n }) => sum + n, 0);
  if (total === 0) return null;
  let below = 0;
  for (const { mostSec, n } of [...steps].sort((one, other) => one.mostSec - other.mostSec)) {
    const share = (0.95 * total - below) / n;
    if (share <= 1) return (mostSec / 2) * (1 + share);
    below += n;
  }
  return null;
}
