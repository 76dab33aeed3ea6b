import { moneyText } from '../../../protocol/money.ts';
import { countText } from './format.ts';
import type { OperatorKey } from '../../../protocol/operator/key.ts';

/** The names of a widget key's limits: `limits` apply to each visitor, `totals` to all of them together. */
export const LIMITS = {
  sessionsPerMinute: 'sessions a minute',
  concurrentSessions: 'at once',
  dailyTokens: 'tokens a day',
  dailyDollars: 'dollars a day',
  newVisitorSeconds: 's for a new visitor who says nothing',
} as const;

export const TOTALS = {
  sessionsPerMinute: 'sessions a minute',
  concurrentSessions: 'at once',
  tokensDaily: 'tokens a day',
  dollarsDaily: 'dollars a day',
} as const;

const NAMES: Readonly<Record<string, string>> = { ...LIMITS, ...TOTALS };

/** `2 at once, $20.00 a day`; empty if no limit is set. */
export function limitWords(limits: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(limits)
    .flatMap(([name, value]) => {
      if (value === undefined) return [];
      const words = NAMES[name] ?? name;
      return [words.startsWith('dollars') ? `${moneyText(value)} a day` : `${countText(value)} ${words}`];
    })
    .join(', ');
}

/** The names and units of a session's own limits. */
const OF_SESSIONS: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  maxMinutes: ['longest', 'min'],
  newVisitorSeconds: ['unless words are heard', 's'],
  maxIdleSec: ['idle after', 's'],
  staleGraceSec: ['stale after', 's'],
  staleReapSec: ['given up after', 's more'],
};

/** The limits in force as rows: `tokens a day`, `300,000`, `WIDGET_MAX_TOKENS_DAILY`. Limits for all users of the key together say so. */
export function limitRows(
  limits: Readonly<Record<string, { readonly value: number; readonly setBy: string }>>,
): { readonly name: string; readonly value: string; readonly setBy: string }[] {
  return Object.entries(limits).map(([limit, { value, setBy }]) => {
    const ofSession = OF_SESSIONS[limit];
    if (ofSession !== undefined) return { name: ofSession[0], value: `${countText(value)} ${ofSession[1]}`, setBy };
    const [, ofTenant, shared] = /^(tenant\.)?totals\.(.+)$/.exec(limit) ?? [];
    const words = NAMES[shared ?? limit] ?? limit;
    const text = words.startsWith('dollars') ? moneyText(value) : countText(value);
    const whole = ofTenant === undefined ? 'whole key' : 'whole tenant';
    return { name: shared === undefined ? words : `${words}, ${whole}`, value: text, setBy };
  });
}

type KeyWarning = OperatorKey['warnings'][number];

/** Why a key is open, as words that follow its name. */
const WARNINGS: Readonly<Record<KeyWarning, string>> = {
  overrides: 'pages may ask for any model and instructions',
  no_totals: 'nothing bounds what all its visitors use in a day',
  any_agent: 'pages may ask for any agent, or for none',
};

/** `pages may ask for any agent, or for none; …`. Warnings that only a later version knows are shown by their names. */
export function warningWords(warnings: readonly KeyWarning[]): string {
  return warnings.map((warning) => WARNINGS[warning] ?? warning).join('; ');
}
