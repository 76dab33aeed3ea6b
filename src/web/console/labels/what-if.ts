import type { Keys } from '../data/shapes.ts';
import { LIMITS, TOTALS } from './keys.ts';

/** What is being tried, as in the page's address. */
export interface Tried {
  /** For example `limits.dailyTokens`, `totals.dollarsDaily` or `budget.dollars`. */
  readonly what: string;
  /** Empty for the whole tenant. */
  readonly keyId: string;
  readonly amount: string;
  readonly period: string;
  readonly then: string;
}

const limits = Object.entries(LIMITS).filter(([name]) => name !== 'newVisitorSeconds');

/** What can be tried, with labels. */
export const CHANGES: readonly (readonly [what: string, words: string])[] = [
  ...Object.entries(TOTALS).map(([name, words]) => [`totals.${name}`, `all visitors: ${words}`] as const),
  ...limits.map(([name, words]) => [`limits.${name}`, `each visitor: ${words}`] as const),
  ['budget.dollars', 'a budget: dollars'],
  ['budget.tokens', 'a budget: tokens'],
];

/** Why creates would be refused. */
export const REFUSED: Readonly<Record<string, string>> = {
  RATE_LIMIT_EXCEEDED: 'because of too many in a minute',
  DAILY_QUOTA_EXCEEDED: 'because nothing was left to use',
  MAX_CONCURRENT_SESSIONS: 'because of too many at once',
};

/** The change in the form that the service takes. */
export function changeOf({ what, keyId, amount, period, then }: Tried): object {
  const [kind = '', name = ''] = what.split('.');
  const value = { [name]: Number(amount) };
  if (kind !== 'budget') return { ...(keyId === '' ? {} : { keyId }), [kind]: value };
  const of = keyId === '' ? 'tenant' : `key:${keyId}`;
  return { budget: { id: 'what-if', of, period, then, ...value } };
}

/** The limit in force now, if it is known. */
export function presentOf(
  { what, keyId }: Tried,
  key: Keys['keys'][number] | undefined,
  tenant: Keys['tenants'][number] | undefined,
): string {
  const [kind, name = ''] = what.split('.');
  if (kind === 'budget') return '';
  const set: Readonly<Record<string, number | undefined>> =
    (kind === 'limits' ? key?.limits : keyId === '' ? tenant?.totals : key?.totals) ?? {};
  const value = set[name];
  if (value !== undefined) return `now ${value}`;
  return kind === 'limits' ? 'now as the installation says' : 'now without a ceiling';
}
