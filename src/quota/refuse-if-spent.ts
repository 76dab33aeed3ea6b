import type { CallerLimits } from '../../config/config.ts';
import type { ErrorAdditions } from '../protocol/error-body.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Why } from '../protocol/refusal-why.ts';
import type { Ledger } from '../stores/ledger/contract.ts';
import type { KeyLimits } from '../stores/tenants/contract.ts';
import type { QuotaDay } from './calendar.ts';
import { isSpent, totalCeilings } from './ceilings.ts';
import { ownCeilings, sharedLevers, whySpent } from './levers.ts';
import { boundedDays, type SharedCeilings } from './shared-ceilings.ts';

/** Whose ceilings of the day are looked at. */
export interface CeilingsHolder {
  readonly subject: string;
  readonly keyId: string | null;
  /** The subject's own. */
  readonly limits: CallerLimits;
  /** What of them the widget key sets itself. */
  readonly overrides?: KeyLimits | undefined;
  /** Those that the subject shares with others. */
  readonly shared: readonly SharedCeilings[];
}

/**
 * DAILY_QUOTA_EXCEEDED when a total of the day has reached its ceiling, the subject's or one that it shares (docs/contract.md, section 5.8).
 * @throws Unavailable when the database is away
 */
export async function refuseIfSpent(
  { subject, keyId, limits, overrides, shared }: CeilingsHolder,
  atMs: number,
  { ledger, calendar }: { readonly ledger: Pick<Ledger, 'totals'>; readonly calendar: (atMs: number) => QuotaDay },
): Promise<Refusal | undefined> {
  const { day } = calendar(atMs);
  const others = boundedDays(shared).map(async (one) => ({ one, used: await ledger.totals(one.account, day) }));
  const [own, ...used] = await Promise.all([ledger.totals(subject, day), ...others]);
  if (isSpent(own, limits)) return quotaRefusal({}, whySpent(own, limits, ownCeilings({ keyId, overrides })));
  const spent = used.find((each) => isSpent(each.used, totalCeilings(each.one.totals)));
  if (spent === undefined) return undefined;
  return quotaRefusal({}, whySpent(spent.used, totalCeilings(spent.one.totals), sharedLevers(spent.one)));
}

/** @param report what a refused report was counted to; a refused create has none */
export function quotaRefusal(
  report: Pick<ErrorAdditions, 'counted' | 'usage' | 'saysEnd'> = {},
  why: Why = {},
): Refusal {
  return new Refusal(
    'DAILY_QUOTA_EXCEEDED',
    report.counted === true
      ? 'This report was counted, so do not send it again; it carried a total over its daily ceiling, which resets at usage.resetAt.'
      : 'The daily token or dollar ceiling is reached; it resets with the next day.',
    report,
    why,
  );
}
