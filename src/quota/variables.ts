import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** An amount in dollars with at most six decimals, converted to micro-dollars. */
function dollars(max: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount of dollars with at most 6 decimals')
    .transform((text) => Math.round(Number(text) * 1_000_000))
    .pipe(z.number().max(max * 1_000_000, `must be at most ${max}`));
}

// UTC is accepted without time-zone data, because loading that takes 30 ms and 9 MB at the start.
const timeZone: z.ZodType<string, string> = z
  .string()
  .refine((name) => name === 'UTC' || isTimeZone(name), 'must be a time zone such as UTC or Europe/Berlin');

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** What visitors may use; a widget key may have its own limits. */
export const widgetLimits = {
  sessionsPerMinute: variable(
    'WIDGET_SESSION_PER_MIN',
    s.integer(0, 1e6),
    '12',
    'sessions a minute per widget subject',
  ),
  dailyTokens: variable('WIDGET_MAX_TOKENS_DAILY', s.integer(0, 1e12), '300000', 'tokens a day per widget subject'),
  dailyMicroDollars: variable('WIDGET_MAX_DOLLARS_DAILY', dollars(1e6), '20', 'dollars a day per widget subject'),
  concurrentSessions: variable(
    'WIDGET_MAX_CONCURRENT_SESSIONS',
    s.integer(0, 1e6),
    '10',
    'open sessions per widget subject',
  ),
};

export const widgetTokensPerMinute = variable(
  'WIDGET_MAX_TOKENS_PER_MINUTE',
  s.integer(0, 1e9),
  '0',
  "tokens that a widget's client may report for each started minute of connection, plus one minute; 0: no limit",
  { example: '20000' },
);

/** What console users may use. */
export const consoleLimits = {
  sessionsPerMinute: variable('CONSOLE_SESSION_PER_MIN', s.integer(0, 1e6), '3', 'sessions a minute per console user'),
  dailyTokens: variable('CONSOLE_MAX_TOKENS_DAILY', s.integer(0, 1e12), '50000', 'tokens a day per console user'),
  dailyMicroDollars: variable('CONSOLE_MAX_DOLLARS_DAILY', dollars(1e6), '1', 'dollars a day per console user'),
  concurrentSessions: variable(
    'CONSOLE_MAX_CONCURRENT_SESSIONS',
    s.integer(0, 1e6),
    '1',
    'open sessions per console user',
  ),
};

export const quotaTimeZone = variable('QUOTA_TIMEZONE', timeZone, 'UTC', 'time zone of the calendar day for quotas');

export const reserveSec = variable(
  'RESERVE_SEC',
  s.integer(0, 3600),
  '60',
  'seconds of expected cost that each session with a call reserves from the ceilings',
);
