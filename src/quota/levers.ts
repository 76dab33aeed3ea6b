import type { Why } from '../protocol/refusal-why.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';
import type { KeyLimits } from '../stores/tenants/contract.ts';
import type { Ceilings } from './ceilings.ts';
import { leverOfShared, type SharedCeilings } from './shared-ceilings.ts';

const MICRO = 1_000_000;

/** The end of the names of the variables: those of widget callers and of console callers differ in how they begin. */
const variables: Readonly<Record<keyof KeyLimits, string>> = {
  sessionsPerMinute: 'SESSION_PER_MIN',
  dailyTokens: 'MAX_TOKENS_DAILY',
  dailyDollars: 'MAX_DOLLARS_DAILY',
  concurrentSessions: 'MAX_CONCURRENT_SESSIONS',
};

/** What sets the limits of a caller's own subject. */
export interface SetBy {
  readonly keyId: string | null;
  /** What the key sets itself, where that is known. */
  readonly overrides?: KeyLimits | undefined;
}

/** The variable that sets a limit of a caller, or the field of its widget key. */
export function leverOf(limit: keyof KeyLimits, { keyId, overrides }: SetBy): string {
  const variable = `${keyId === null ? 'CONSOLE' : 'WIDGET'}_${variables[limit]}`;
  if (keyId !== null && overrides === undefined) return `${variable} or limits.${limit}`;
  return overrides?.[limit] === undefined ? variable : `limits.${limit}`;
}

/** Which of two ceilings of the day is reached, and by how much. @param lever what sets each */
export function whySpent(
  { tokens, microDollars }: UsageTotals,
  { dailyTokens, dailyMicroDollars }: Ceilings,
  lever: { readonly tokens: string; readonly dollars: string },
): Why {
  if (tokens >= dailyTokens) return { limit: dailyTokens, count: tokens, unit: 'tokens', lever: lever.tokens };
  const [limit, count] = [dailyMicroDollars / MICRO, microDollars / MICRO];
  return { limit, count, unit: 'dollars', lever: lever.dollars };
}

/** The ceilings of one subject. */
export function ownCeilings(by: SetBy): { readonly tokens: string; readonly dollars: string } {
  return { tokens: leverOf('dailyTokens', by), dollars: leverOf('dailyDollars', by) };
}

/** The ceilings that several subjects share. */
export function sharedLevers({ whose }: SharedCeilings): { readonly tokens: string; readonly dollars: string } {
  return { tokens: leverOfShared('tokensDaily', whose), dollars: leverOfShared('dollarsDaily', whose) };
}
