import type { BlockList } from 'node:net';
import type { VoiceLimits } from '../machines/voice-session/types.ts';
import type { AuthLimits } from '../machines/auth-session/types.ts';
import type { Settings } from './env.ts';

/** What one kind of caller may use (specification section 8, server limits). */
export interface CallerLimits {
  readonly sessionsPerMinute: number;
  readonly dailyTokens: number;
  readonly dailyMicroDollars: number;
  readonly concurrentSessions: number;
}

/** Days for which things are kept; 0 is for ever. */
export interface RetentionDays {
  /** After a session's end. */
  readonly sessions: number;
  /** Usage entries and totals. */
  readonly usage: number;
  readonly audit: number;
}

/** The settings in the words of the code, with what follows from them. */
export interface Config {
  readonly mode: Settings['NODE_ENV'];
  readonly host: string;
  readonly port: number;
  /** Processes that share the port. */
  readonly workers: number;
  /** For each process; 0: as many as its limit for open files allows. */
  readonly maxConnections: number;
  /** Undefined until the port is known: then http://localhost:PORT. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  readonly tenantsFile: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrls: readonly string[] | undefined;
  readonly redisPrefix: string;
  readonly upstream: {
    readonly provider: 'openai' | 'local';
    readonly apiKey: string | undefined;
    readonly baseUrl: string | undefined;
    readonly timeoutMs: number;
    readonly clientSecretTtlSec: number;
  };
  readonly mail: { readonly smtpUrl: string | undefined; readonly from: string };
  readonly jwtSecrets: readonly string[] | undefined;
  readonly consoleEmails: readonly string[];
  /** Everybody can log in, and this is production: only tenants that name their admins admit console users. */
  readonly needsAdmins: boolean;
  readonly operatorEmails: readonly string[];
  readonly serviceTokens: readonly string[];
  /** Undefined: the origin of the public URL. */
  readonly consoleOrigins: readonly string[] | undefined;
  readonly trustedProxies: BlockList;
  readonly bots: {
    readonly provider: 'none' | 'heuristic' | 'http';
    readonly verdictUrl: string | undefined;
    readonly verdictToken: string | undefined;
  };
  readonly requireOriginForWidgets: boolean;
  readonly requireAuthForSession: boolean;
  readonly quotaTimeZone: string;
  readonly edge: {
    readonly perIpPerMinute: number;
    readonly perUserPerMinute: number;
    readonly perPagePerMinute: number;
    readonly burst: number;
    readonly maxSocketsPerIp: number;
  };
  readonly callers: { readonly widget: CallerLimits; readonly console: CallerLimits };
  readonly retentionDays: RetentionDays;
  /** What a widget's client may report a minute; 0 is no bound. */
  readonly widgetTokensPerMinute: number;
  readonly voice: VoiceLimits;
  readonly heartbeatIntervalSec: number;
  readonly auth: AuthLimits;
  readonly otp: { readonly expiryMinutes: number; readonly perHour: number; readonly maxAttempts: number };
  readonly logLevel: Settings['LOG_LEVEL'];
  readonly debugMetrics: boolean;
}

/** Turns validated settings into the configuration that the composition root takes. */
export function toConfig(settings: Settings): Config {
  const isProduction = settings.NODE_ENV === 'production';
  const consoleEmails = settings.CONSOLE_EMAILS ?? ['*'];
  return {
    mode: settings.NODE_ENV,
    host: settings.HOST,
    port: settings.PORT,
    workers: settings.WORKERS,
    maxConnections: settings.MAX_CONNECTIONS,
    publicUrl: settings.PUBLIC_URL,
    dataDir: settings.DATA_DIR,
    tenantsFile: settings.TENANTS_FILE,
    databaseUrl: settings.DATABASE_URL,
    redisUrls: settings.REDIS_URL,
    redisPrefix: settings.REDIS_PREFIX,
    upstream: {
      provider: settings.UPSTREAM_PROVIDER ?? (settings.OPENAI_API_KEY === undefined ? 'local' : 'openai'),
      apiKey: settings.OPENAI_API_KEY,
      baseUrl: settings.UPSTREAM_BASE_URL,
      timeoutMs: settings.UPSTREAM_TIMEOUT_MS,
      clientSecretTtlSec: settings.CLIENT_SECRET_TTL_SEC,
    },
    mail: { smtpUrl: settings.SMTP_URL, from: settings.MAIL_FROM },
    jwtSecrets: settings.JWT_SECRET,
    consoleEmails,
    needsAdmins: isProduction && consoleEmails.includes('*'),
    operatorEmails: settings.OPERATOR_EMAILS ?? (isProduction ? [] : ['*']),
    serviceTokens: settings.SERVICE_TOKENS,
    consoleOrigins: settings.CONSOLE_ORIGINS,
    trustedProxies: settings.TRUST_PROXY,
    bots: {
      provider: settings.BOT_PROVIDER ?? (isProduction ? 'heuristic' : 'none'),
      verdictUrl: settings.BOT_VERDICT_URL,
      verdictToken: settings.BOT_VERDICT_TOKEN,
    },
    requireOriginForWidgets: settings.REQUIRE_ORIGIN_FOR_WIDGETS,
    requireAuthForSession: settings.REQUIRE_AUTH_FOR_SESSION,
    quotaTimeZone: settings.QUOTA_TIMEZONE,
    edge: {
      perIpPerMinute: settings.RATE_IP_PER_MIN,
      perUserPerMinute: settings.RATE_USER_PER_MIN,
      perPagePerMinute: settings.RATE_PAGE_PER_MIN,
      burst: settings.RATE_BURST,
      maxSocketsPerIp: settings.MAX_SOCKETS_PER_IP,
    },
    callers: {
      widget: {
        sessionsPerMinute: settings.WIDGET_SESSION_PER_MIN,
        dailyTokens: settings.WIDGET_MAX_TOKENS_DAILY,
        dailyMicroDollars: settings.WIDGET_MAX_DOLLARS_DAILY,
        concurrentSessions: settings.WIDGET_MAX_CONCURRENT_SESSIONS,
      },
      console: {
        sessionsPerMinute: settings.CONSOLE_SESSION_PER_MIN,
        dailyTokens: settings.CONSOLE_MAX_TOKENS_DAILY,
        dailyMicroDollars: settings.CONSOLE_MAX_DOLLARS_DAILY,
        concurrentSessions: settings.CONSOLE_MAX_CONCURRENT_SESSIONS,
      },
    },
    retentionDays: {
      sessions: settings.SESSION_RETENTION_DAYS,
      usage: settings.USAGE_RETENTION_DAYS,
      audit: settings.AUDIT_RETENTION_DAYS,
    },
    widgetTokensPerMinute: settings.WIDGET_MAX_TOKENS_PER_MINUTE,
    voice: {
      maxMinutes: settings.MAX_SESSION_MINUTES,
      maxIdleSec: settings.MAX_SESSION_IDLE_SEC,
      staleGraceSec: settings.STALE_GRACE_SEC,
      staleReapSec: settings.STALE_REAP_SEC,
    },
    heartbeatIntervalSec: settings.HEARTBEAT_INTERVAL_SEC,
    auth: { expiryHours: settings.SESSION_EXPIRY_HOURS, absoluteHours: settings.SESSION_ABSOLUTE_HOURS },
    otp: {
      expiryMinutes: settings.OTP_EXPIRY_MINUTES,
      perHour: settings.MAX_OTP_PER_HOUR,
      maxAttempts: settings.MAX_OTP_VERIFY_ATTEMPTS,
    },
    logLevel: settings.LOG_LEVEL,
    debugMetrics: settings.DEBUG_METRICS,
  };
}
