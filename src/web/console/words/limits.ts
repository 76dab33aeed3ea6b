import { countText, moneyText } from './format.ts';

/** What each limit of a widget key is called: `limits` hold for each visitor, `totals` over all of them. */
export const LIMITS = {
  sessionsPerMinute: 'sessions a minute',
  concurrentSessions: 'at once',
  dailyTokens: 'tokens a day',
  dailyDollars: 'dollars a day',
} as const;

export const TOTALS = {
  sessionsPerMinute: 'sessions a minute',
  concurrentSessions: 'at once',
  tokensDaily: 'tokens a day',
  dollarsDaily: 'dollars a day',
} as const;

const NAMES: Readonly<Record<string, string>> = { ...LIMITS, ...TOTALS };

/** `2 at once, $20.00 a day`; empty where none is set. */
export function limitWords(limits: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(limits)
    .flatMap(([name, value]) => {
      if (value === undefined) return [];
      const words = NAMES[name] ?? name;
      return [words.startsWith('dollars') ? `${moneyText(value)} a day` : `${countText(value)} ${words}`];
    })
    .join(', ');
}
