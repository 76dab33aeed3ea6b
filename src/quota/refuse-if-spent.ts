import type { CallerLimits } from '../../config/config.ts';
import type { ErrorAdditions } from '../protocol/errors/error-body.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Why } from '../protocol/errors/error-row.ts';
import type { Ledger, UsageTotals } from '../stores/ledger/contract.ts';
import type { KeyLimits } from '../stores/tenants/contract.ts';
import type { BudgetLimits } from './budgets/budgets.ts';
import type { QuotaDay } from './calendar.ts';
import {
  isSpent,
  totalCeilings,
  boundedDays,
  type SharedCeilings,
  leverOf,
  type SetBy,
  type Ceilings,
  leverOfShared,
} from './ceilings.ts';

const MICRO = 1_000_000;

/** Whose daily ceilings are checked. */
export interface CeilingsHolder {
  readonly subject: string;
  readonly tenantId: string;
  readonly keyId: string | null;
  /** The subject's own. */
  readonly limits: CallerLimits;
  /** Which of them the widget key itself sets. */
  readonly overrides?: KeyLimits | undefined;
  /** Those that the subject shares with others. */
  readonly shared: readonly SharedCeilings[];
  /** The agent that the session speaks with; undefined where only the session knows it. */
  readonly agentId?: string | null | undefined;
  /** The session whose call is to be opened; undefined for a session that is to be created. */
  readonly sessionId?: string | undefined;
}

export interface SpentDeps {
  readonly ledger: Pick<Ledger, 'totals'>;
  readonly calendar: (atMs: number) => QuotaDay;
  readonly budgets: Pick<BudgetLimits, 'usedUp'>;
}

/**
 * DAILY_QUOTA_EXCEEDED when a total of the day has reached its ceiling, the subject's own or a shared one (docs/contract.md, section 5.8), or when a
 * budget has nothing left.
 * @throws Unavailable when the database is away
 */
export async function refuseIfSpent(
  holder: CeilingsHolder,
  atMs: number,
  { ledger, calendar, budgets }: SpentDeps,
): Promise<Refusal | undefined> {
  const { subject, keyId, limits, overrides, shared } = holder;
  const { day } = calendar(atMs);
  const usedUp = budgets.usedUp(holder, atMs, holder.sessionId === undefined);
  const others = boundedDays(shared).map(async (one) => ({ one, used: await ledger.totals(one.account, day) }));
  const [budget, own, ...used] = await Promise.all([usedUp, ledger.totals(subject, day), ...others]);
  if (isSpent(own, limits)) return quotaRefusal({}, whySpent(own, limits, ownCeilings({ keyId, overrides })));
  const spent = used.find((each) => isSpent(each.used, totalCeilings(each.one.totals)));
  if (spent === undefined) return budget && quotaRefusal({ budget: budget.budget }, budget.why);
  return quotaRefusal({}, whySpent(spent.used, totalCeilings(spent.one.totals), sharedLevers(spent.one)));
}

/** @param report what was counted of a refused report; a refused create has none */
export function quotaRefusal(
  report: Pick<ErrorAdditions, 'counted' | 'usage' | 'saysEnd' | 'budget'> = {},
  why: Why = {},
): Refusal {
  return new Refusal('DAILY_QUOTA_EXCEEDED', refusalText(report), report, why);
}

function refusalText({ counted, budget }: Pick<ErrorAdditions, 'counted' | 'budget'>): string {
  if (budget !== undefined) {
    const begins = budget.resetAt === null ? 'it does not begin anew' : `it begins anew at ${budget.resetAt}`;
    const usedUp = `the budget "${budget.id}" has nothing left, and ${begins} unless somebody raises it.`;
    return counted === true
      ? `This report was counted, so do not send it again; ${usedUp}`
      : usedUp.replace('the', 'The');
  }
  return counted === true
    ? 'This report was counted, so do not send it again; it carried a total over its daily ceiling, which resets at usage.resetAt.'
    : 'The daily token or dollar ceiling is reached; it resets with the next day.';
}

/** Which of the two daily ceilings is reached, and by how much. @param lever what sets each */
export function whySpent(
  { tokens, microDollars }: UsageTotals,
  { dailyTokens, dailyMicroDollars }: Ceilings,
  lever: { readonly tokens: string; readonly dollars: string },
): Why {
  if (tokens >= dailyTokens) return { limit: dailyTokens, count: tokens, unit: 'tokens', lever: lever.tokens };
  const [limit, count] = [dailyMicroDollars / MICRO, microDollars / MICRO];
  return { limit, count, unit: 'dollars', lever: lever.dollars };
}

/** What sets the ceilings of one subject. */
export function ownCeilings(by: SetBy): { readonly tokens: string; readonly dollars: string } {
  return { tokens: leverOf('dailyTokens', by), dollars: leverOf('dailyDollars', by) };
}

/** What sets the ceilings that several subjects share. */
function sharedLevers({ whose }: SharedCeilings): { readonly tokens: string; readonly dollars: string } {
  return { tokens: leverOfShared('tokensDaily', whose), dollars: leverOfShared('dollarsDaily', whose) };
}
