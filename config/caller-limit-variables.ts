import { dollars, integer, timeZone } from './schemas.ts';
import { variable } from './variable.ts';

/** The part of the table of variables (variables.ts) for what visitors and console users may use. */
export const callerLimits = {
  'Limits of widget callers (a key may have its own)': {
    widget: {
      sessionsPerMinute: variable(
        'WIDGET_SESSION_PER_MIN',
        integer(0, 1e6),
        '12',
        'sessions a minute per widget subject',
      ),
      dailyTokens: variable('WIDGET_MAX_TOKENS_DAILY', integer(0, 1e12), '300000', 'tokens a day per widget subject'),
      dailyMicroDollars: variable('WIDGET_MAX_DOLLARS_DAILY', dollars(1e6), '20', 'dollars a day per widget subject'),
      concurrentSessions: variable(
        'WIDGET_MAX_CONCURRENT_SESSIONS',
        integer(0, 1e6),
        '10',
        'open sessions per widget subject',
      ),
    },
    widgetTokensPerMinute: variable(
      'WIDGET_MAX_TOKENS_PER_MINUTE',
      integer(0, 1e9),
      '0',
      "tokens that a widget's client may report for each started minute of connection, plus one minute; 0: no limit",
      { example: '20000' },
    ),
  },

  'Limits of console callers': {
    console: {
      sessionsPerMinute: variable(
        'CONSOLE_SESSION_PER_MIN',
        integer(0, 1e6),
        '3',
        'sessions a minute per console user',
      ),
      dailyTokens: variable('CONSOLE_MAX_TOKENS_DAILY', integer(0, 1e12), '50000', 'tokens a day per console user'),
      dailyMicroDollars: variable('CONSOLE_MAX_DOLLARS_DAILY', dollars(1e6), '1', 'dollars a day per console user'),
      concurrentSessions: variable(
        'CONSOLE_MAX_CONCURRENT_SESSIONS',
        integer(0, 1e6),
        '1',
        'open sessions per console user',
      ),
    },
    quotaTimeZone: variable('QUOTA_TIMEZONE', timeZone, 'UTC', 'time zone of the calendar day for quotas'),
  },
};
