import { z } from 'zod';
import { bots } from './bot-variables.ts';
import { defaultTenantsFile } from './default-tenants-file.ts';
import { callerLimits } from './caller-limit-variables.ts';
import { rateLimits } from './rate-limit-variables.ts';
import { retentionDays } from './retention-variables.ts';
import { sessionTimes } from './session-variables.ts';
import { mailSender, mailServer } from './mail-settings.ts';
import * as s from './schemas.ts';
import { tenantServers } from './tenant-server-variables.ts';
import { traces } from './trace-variables.ts';
import { upstream } from './upstream-variables.ts';
import { mapVariables, variable, variablesOf, type NamesOf, type ValuesOf, type Variable } from './variable.ts';

/**
 * Every variable, in the groups and the order of the documentation: its name, how it is parsed, its default (or a text for what applies without
 * one), and its meaning. Its place in a group is its place in `Config`, so a new variable is one line here and its use in the feature that gets
 * this part of `Config`. Help, messages, `check-config`, the documentation and config/compose.yaml derive from this table.
 */
export const groups = {
  'The service': {
    mode: variable(
      'NODE_ENV',
      s.choice(['development', 'test', 'production']),
      'development',
      'in production the service refuses to start with incomplete settings',
    ),
    host: variable(
      'HOST',
      z.string().min(1),
      { unset: 'production: 0.0.0.0; development: 127.0.0.1, this machine alone' },
      'listen address',
      { example: '0.0.0.0' },
    ),
    port: variable('PORT', s.integer(0, 65_535), '3000', 'listen port; 0 picks a free one and prints it'),
    workers: variable(
      'WORKERS',
      s.workers,
      '1',
      'processes that share the port; auto: one for each core; more than one need DATABASE_URL and REDIS_URL',
      { example: 'auto' },
    ),
    maxConnections: variable(
      'MAX_CONNECTIONS',
      s.integer(0, 10_000_000),
      '0',
      'connections that one process accepts, including sockets; 0: as many as its limit for open files allows',
    ),
    publicUrl: variable(
      'PUBLIC_URL',
      s.ownOrigin,
      { unset: 'http://localhost:PORT' },
      "the service's own origin, for cookies (Secure when https), the CSRF check and links",
      { example: 'https://voice.example.com', production: true },
    ),
    trustedProxies: variable(
      'TRUST_PROXY',
      s.networks,
      '',
      'comma-separated CIDRs of proxies whose X-Forwarded-For is trusted',
      { unset: 'unset: trust nobody', example: '10.0.0.0/8' },
    ),
    logLevel: variable(
      'LOG_LEVEL',
      s.choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
      'info',
      'how much is logged; debug logs each request and each transition',
    ),
    debugMetrics: variable(
      'DEBUG_METRICS',
      s.boolean,
      'false',
      'true: /metrics needs no credential and replies carry Server-Timing',
    ),
    inspect: variable(
      'INSPECT',
      s.boolean,
      'false',
      'true: inspectors of XState may attach on this machine, at ws://localhost:PORT/api/operator/inspect; never in production',
    ),
  },

  'Storage and tenants': {
    databaseUrl: variable(
      'DATABASE_URL',
      s.url(['postgres', 'postgresql']),
      { unset: 'unset: embedded PostgreSQL in DATA_DIR' },
      'the database',
      {
        example: 'postgres://switchboard:password@db.example.com:5432/switchboard',
        production: true,
        workers: true,
        secret: 'in address',
      },
    ),
    databaseDeadlineMs: variable(
      'DATABASE_DEADLINE_MS',
      s.integer(100, 60_000),
      { unset: 'unset: 800, of the embedded one 5000' },
      'milliseconds allowed for one call to the database before its request is answered 503',
    ),
    redisUrls: variable(
      'REDIS_URL',
      s.list.pipe(z.array(s.url(['redis', 'rediss'])).min(1, 'must name at least one server')),
      { unset: 'unset: in-process' },
      'the store for edge rate limits and the live registry; a comma-separated list for a cluster',
      { example: 'redis://redis.example.com:6379', production: true, workers: true, secret: 'in addresses' },
    ),
    redisPrefix: variable(
      'REDIS_PREFIX',
      s.keyPrefix,
      'switchboard',
      'prefix of all keys and channels in Redis, so that several products can share one',
    ),
    redisDeadlineMs: variable(
      'REDIS_DEADLINE_MS',
      s.integer(100, 60_000),
      '450',
      'milliseconds allowed for one call to Redis before Redis counts as away',
    ),
    migrations: variable(
      'MIGRATE',
      s.choice(['start', 'never']),
      'start',
      'start: the service migrates the database when it starts; never: only the command migrate does, and the service refuses to start before that',
    ),
    dataDir: variable('DATA_DIR', z.string().min(1), './data', 'directory of the embedded storage'),
    tenantsFile: variable(
      'TENANTS_FILE',
      z.string().min(1),
      defaultTenantsFile(),
      'file of tenants and widget keys, merged into the database at start and on every change',
      { unset: 'config/tenants.json', example: 'config/tenants.json' },
    ),
    retentionDays,
  },

  ...upstream,

  'Who may use it': {
    jwtSecrets: variable(
      'JWT_SECRET',
      s.secrets(32).pipe(z.array(z.string()).min(1, 'must hold a secret')),
      { unset: 'development: a random one kept in the database' },
      'signs logins; comma-separated for rotation: the first signs, all verify',
      { example: 'the output of: openssl rand -base64 48', production: true, secret: 'all' },
    ),
    consoleEmails: variable(
      'CONSOLE_EMAILS',
      s.emails,
      { unset: 'development: *' },
      'who may log in: addresses or @domain, comma-separated; * means everybody, in production only if every tenant names admins',
      { example: 'ops@example.com,@example.org', production: true },
    ),
    operatorEmails: variable(
      'OPERATOR_EMAILS',
      s.emails,
      { unset: 'development: every console user; production: nobody' },
      'who may use the operator console: addresses or @domain',
      { example: 'ops@example.com' },
    ),
    viewerEmails: variable(
      'VIEWER_EMAILS',
      s.emails,
      '',
      'who may read everything in the operator console but change nothing: addresses or @domain',
      { unset: 'nobody', example: 'support@example.com' },
    ),
    serviceTokens: variable(
      'SERVICE_TOKENS',
      s.secrets(16),
      '',
      'comma-separated bearer tokens for trusted back ends (usage, metrics, operator API)',
      { unset: 'unset', example: 'the output of: openssl rand -hex 32', secret: 'all' },
    ),
    consoleOrigins: variable(
      'CONSOLE_ORIGINS',
      s.list.pipe(z.array(s.origin)),
      { unset: "PUBLIC_URL's origin" },
      'origins that may use the console cookie',
      { example: 'https://voice.example.com' },
    ),
    requireAuthForSession: variable(
      'REQUIRE_AUTH_FOR_SESSION',
      s.boolean,
      'false',
      'true: every session needs a console login',
    ),
    requireOriginForWidgets: variable(
      'REQUIRE_ORIGIN_FOR_WIDGETS',
      s.boolean,
      'true',
      'true: a widget request without an Origin header gets ORIGIN_MISMATCH',
    ),
  },

  ...tenantServers,

  'Console login': {
    mail: {
      server: variable(
        'SMTP_URL',
        mailServer,
        { unset: 'unset: development mailbox at /dev/mail' },
        'mail server for login codes and alerts',
        { example: 'smtps://user:password@smtp.example.com:465', production: true, secret: 'in address' },
      ),
      from: variable('MAIL_FROM', mailSender, 'Switchboard <no-reply@localhost>', 'sender of login codes and alerts'),
    },
    otp: {
      expiryMinutes: variable('OTP_EXPIRY_MINUTES', s.integer(1, 1440), '10', 'minutes that a login code is valid'),
      perHour: variable('MAX_OTP_PER_HOUR', s.integer(1, 1000), '3', 'codes an hour per e-mail address'),
      maxAttempts: variable('MAX_OTP_VERIFY_ATTEMPTS', s.integer(1, 100), '5', 'attempts per code'),
      failuresPerDay: variable(
        'MAX_OTP_FAILURES_PER_DAY',
        s.integer(1, 100_000),
        '100',
        'wrong codes a day (UTC) over all addresses of a domain; five times as many over all domains',
      ),
      newMailsPerHour: variable(
        'MAX_OTP_NEW_MAILS_PER_HOUR',
        s.integer(1, 100_000),
        '60',
        'mails an hour to addresses of a domain that nobody has yet used to log in; five times as many over all domains',
      ),
    },
    auth: {
      expiryHours: variable(
        'SESSION_EXPIRY_HOURS',
        s.integer(1, 8760),
        '24',
        'hours without activity after which a console login ends',
      ),
      absoluteHours: variable(
        'SESSION_ABSOLUTE_HOURS',
        s.integer(0, 87_600),
        '720',
        'hours after which a console login ends in any case; 0: no limit',
      ),
    },
  },

  ...bots,

  ...sessionTimes,
  ...rateLimits,
  ...callerLimits,

  ...traces,
};

type Merged<U> = (U extends unknown ? (part: U) => void : never) extends (whole: infer W) => void ? W : never;

/** The values of the variables, by their fields in the table. */
export type Settings = ValuesOf<Merged<(typeof groups)[keyof typeof groups]>>;
export type VariableName = NamesOf<typeof groups>;

/** All variables, in the order of the table. */
export const variables: readonly Variable[] = Object.values(groups).flatMap(variablesOf);

/** @param valueOf reads the value of a variable */
export function readVariables(valueOf: (variable: Variable) => unknown): Settings {
  return Object.assign({}, ...Object.values(groups).map((fields) => mapVariables(fields, valueOf))) as Settings;
}
