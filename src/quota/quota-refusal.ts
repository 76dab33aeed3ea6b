import type { ErrorAdditions } from '../protocol/errors/error-body.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Why } from '../protocol/errors/error-row.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';
import { leverOf, leverOfShared, type Ceilings, type SetBy, type SharedCeilings } from './ceilings.ts';

const MICRO = 1_000_000;

/** DAILY_QUOTA_EXCEEDED. @param report what was counted of a refused report; a refused create has none */
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
export function sharedLevers({ whose }: SharedCeilings): { readonly tokens: string; readonly dollars: string } {
  return { tokens: leverOfShared('tokensDaily', whose), dollars: leverOfShared('dollarsDaily', whose) };
}
