import { dollars, integer, timeZone } from './schemas.ts';
import { variable } from './variable.ts';

/** How long things are kept, in days; 0 means forever. */
export const retentionDays = {
  sessions: variable(
    'SESSION_RETENTION_DAYS',
    integer(0, 36_500),
    '0',
    'days that sessions are kept after their end; 0: for ever',
  ),
  usage: variable(
    'USAGE_RETENTION_DAYS',
    integer(0, 36_500),
    '400',
    'days that usage entries and daily totals are kept; 0: for ever',
  ),
  events: variable(
    'EVENT_RETENTION_DAYS',
    integer(0, 36_500),
    '30',
    'days that events of machines and sessions are kept; 0: for ever',
  ),
  refusals: variable(
    'REFUSAL_RETENTION_DAYS',
    integer(0, 36_500),
    '7',
    'days that refusals are kept, at most two million of them; 0: for ever',
  ),
  audit: variable(
    'AUDIT_RETENTION_DAYS',
    integer(0, 36_500),
    '0',
    "days that the audit of operators' changes is kept; 0: for ever",
  ),
  webhooks: variable(
    'WEBHOOK_RETENTION_DAYS',
    integer(1, 36_500),
    '30',
    'days that events for webhooks are kept, whether delivered or still waiting',
  ),
};

/** The part of the table of variables (variables.ts) for the limits of sessions, requests and callers, and for how long things are kept. */
export const limits = {
  'Voice sessions': {
    voice: {
      maxMinutes: variable('MAX_SESSION_MINUTES', integer(1, 1440), '15', 'longest duration of a session, in minutes'),
      maxIdleSec: variable(
        'MAX_SESSION_IDLE_SEC',
        integer(1, 86_400),
        '300',
        'seconds without activity after which a session is idle',
      ),
      staleGraceSec: variable(
        'STALE_GRACE_SEC',
        integer(1, 604_800),
        '3600',
        'seconds without activity after which a session is stale',
      ),
      staleReapSec: variable(
        'STALE_REAP_SEC',
        integer(0, 604_800),
        '3600',
        'seconds that a stale session stays visible before it is closed as abandoned',
      ),
    },
    heartbeatIntervalSec: variable(
      'HEARTBEAT_INTERVAL_SEC',
      integer(1, 3600),
      '45',
      'seconds between heartbeats; clients get it in the reply to a create',
    ),
  },

  'Rate limits': {
    edge: {
      perIpPerMinute: variable('RATE_IP_PER_MIN', integer(1, 1e9), '60', 'requests a minute per IP address'),
      perUserPerMinute: variable('RATE_USER_PER_MIN', integer(1, 1e9), '120', 'requests a minute per console user'),
      perOperatorPerMinute: variable(
        'RATE_OPERATOR_PER_MIN',
        integer(1, 1e9),
        '600',
        'requests a minute to the operator API per operator, viewer, admin of a tenant or service token',
      ),
      perPagePerMinute: variable(
        'RATE_PAGE_PER_MIN',
        integer(1, 1e9),
        '600',
        'requests a minute per IP address outside the API: pages, files, interface descriptions',
      ),
      burst: variable(
        'RATE_BURST',
        integer(1, 1e6),
        '20',
        'frames that the WebSockets of one session may send in a burst; refilled at RATE_IP_PER_MIN a minute',
      ),
      maxSocketsPerIp: variable(
        'MAX_SOCKETS_PER_IP',
        integer(1, 1e6),
        '100',
        'open WebSockets per IP address, in each process; a session may have four, over all processes',
      ),
    },
  },

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
