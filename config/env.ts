import { BlockList } from 'node:net';
import { z } from 'zod';
import { defaultTenantsFile } from './default-tenants-file.ts';
import {
  boolean,
  choice,
  credential,
  dollars,
  emails,
  integer,
  keyPrefix,
  list,
  mailServer,
  origin,
  ownOrigin,
  proxies,
  secrets,
  sender,
  timeZone,
  url,
  variable,
  workers,
  type Variable,
} from './variables.ts';

/** Every variable of the specification's section 8 and the contract's section 1. */
export const variables = {
  NODE_ENV: variable(choice(['development', 'test', 'production']).default('development'), {
    meaning: 'production refuses to start half-configured',
    default: 'development',
  }),
  HOST: variable(z.string().min(1).default('0.0.0.0'), { meaning: 'listen address', default: '0.0.0.0' }),
  PORT: variable(integer(0, 65_535, 3000), {
    meaning: 'listen port; 0 picks a free one and prints it',
    default: '3000',
  }),
  WORKERS: variable(workers, {
    meaning: 'processes that share the port; auto is one for each core; more than one need DATABASE_URL and REDIS_URL',
    default: '1',
    example: 'auto',
  }),
  MAX_CONNECTIONS: variable(integer(0, 10_000_000, 0), {
    meaning: 'connections that one process holds, sockets among them; 0 is what its limit for open files allows',
    default: '0',
  }),
  PUBLIC_URL: variable(ownOrigin.optional(), {
    meaning: "the service's own origin: cookies (Secure when https), CSRF check, links",
    default: 'http://localhost:PORT',
    example: 'https://voice.example.com',
    requiredInProduction: true,
  }),
  DATA_DIR: variable(z.string().min(1).default('./data'), {
    meaning: 'embedded storage',
    default: './data',
  }),
  TENANTS_FILE: variable(z.string().min(1).default(defaultTenantsFile), {
    meaning: 'tenants and widget keys, merged into the database at start and on change',
    default: 'config/tenants.json',
  }),
  DATABASE_URL: variable(url(['postgres', 'postgresql']).optional(), {
    meaning: 'the database',
    default: 'unset: embedded PostgreSQL in DATA_DIR',
    example: 'postgres://switchboard:password@db.example.com:5432/switchboard',
    requiredInProduction: true,
    secret: true,
  }),
  REDIS_URL: variable(list.pipe(z.array(url(['redis', 'rediss'])).min(1, 'must name at least one server')).optional(), {
    meaning: 'the edge rate-limit store and live registry; a comma-separated list for a cluster',
    default: 'unset: in-process',
    example: 'redis://redis.example.com:6379',
    requiredInProduction: true,
    secret: true,
  }),
  REDIS_PREFIX: variable(keyPrefix.default('switchboard'), {
    meaning: 'what all keys and channels in Redis begin with, so that several products can share one',
    default: 'switchboard',
  }),
  SESSION_RETENTION_DAYS: variable(integer(0, 36_500, 0), {
    meaning: 'days for which sessions are kept after their end; 0 is for ever',
    default: '0',
  }),
  USAGE_RETENTION_DAYS: variable(integer(0, 36_500, 400), {
    meaning: 'days for which usage entries and daily totals are kept; 0 is for ever',
    default: '400',
  }),
  AUDIT_RETENTION_DAYS: variable(integer(0, 36_500, 0), {
    meaning: "days for which operators' changes are kept; 0 is for ever",
    default: '0',
  }),
  UPSTREAM_PROVIDER: variable(choice(['openai', 'local']).optional(), {
    meaning: 'the upstream model provider',
    default: 'openai when OPENAI_API_KEY is set, else local (simulated)',
    example: 'openai',
  }),
  OPENAI_API_KEY: variable(credential.optional(), {
    meaning: 'provider key',
    default: 'unset',
    example: 'sk-...',
    requiredInProduction: true,
    secret: true,
  }),
  UPSTREAM_BASE_URL: variable(url(['http', 'https']).optional(), {
    meaning: 'the transport API address',
    default: "the provider's own",
    example: 'https://api.openai.com',
  }),
  UPSTREAM_TIMEOUT_MS: variable(integer(100, 60_000, 8000), { meaning: 'one mint, in milliseconds', default: '8000' }),
  CLIENT_SECRET_TTL_SEC: variable(integer(10, 7200, 60), {
    meaning: 'life of a client secret, asked of providers that allow it',
    default: '60',
  }),
  SMTP_URL: variable(mailServer.optional(), {
    meaning: 'mail server for login codes',
    default: 'unset: development mailbox at /dev/mail',
    example: 'smtps://user:password@smtp.example.com:465',
    requiredInProduction: true,
    secret: true,
  }),
  MAIL_FROM: variable(sender.default('Switchboard <no-reply@localhost>'), {
    meaning: 'sender of login codes',
    default: 'Switchboard <no-reply@localhost>',
  }),
  JWT_SECRET: variable(secrets(32).pipe(z.array(z.string()).min(1, 'must hold a secret')).optional(), {
    meaning: 'signs logins; comma-separated for rotation: the first signs, all verify',
    default: 'development: a random one kept in the database',
    example: 'the output of: openssl rand -base64 48',
    requiredInProduction: true,
    secret: true,
  }),
  CONSOLE_EMAILS: variable(emails.optional(), {
    meaning:
      'who may log in: addresses or @domain, comma-separated; * is everybody, in production only where every tenant names admins',
    default: 'development: *',
    example: 'ops@example.com,@example.org',
    requiredInProduction: true,
  }),
  OPERATOR_EMAILS: variable(emails.optional(), {
    meaning: 'who may use the operator console: addresses or @domain',
    default: 'development: every console user; production: nobody',
    example: 'ops@example.com',
  }),
  SERVICE_TOKENS: variable(secrets(16).default([]), {
    meaning: 'comma-separated bearer tokens for trusted back ends (usage, metrics, operator API)',
    default: 'unset',
    example: 'the output of: openssl rand -hex 32',
    secret: true,
  }),
  CONSOLE_ORIGINS: variable(list.pipe(z.array(origin)).optional(), {
    meaning: 'origins that may use the console cookie',
    default: "PUBLIC_URL's origin",
    example: 'https://voice.example.com',
  }),
  TRUST_PROXY: variable(proxies.default(new BlockList()), {
    meaning: 'comma-separated CIDRs of proxies whose X-Forwarded-For is believed',
    default: 'unset: trust nobody',
    example: '10.0.0.0/8',
  }),
  BOT_PROVIDER: variable(choice(['none', 'heuristic', 'http']).optional(), {
    meaning: 'who judges whether a caller is a bot',
    default: 'none in development, heuristic in production',
    example: 'heuristic',
  }),
  BOT_VERDICT_URL: variable(url(['http', 'https']).optional(), {
    meaning: 'where BOT_PROVIDER=http asks for verdicts',
    default: 'unset',
    example: 'https://bots.example.com/verdict',
  }),
  BOT_VERDICT_TOKEN: variable(credential.optional(), {
    meaning: 'bearer token for BOT_VERDICT_URL',
    default: 'unset',
    example: 'token',
    secret: true,
  }),
  REQUIRE_ORIGIN_FOR_WIDGETS: variable(boolean.default(true), {
    meaning: 'a widget request without an Origin header gets ORIGIN_MISMATCH',
    default: 'true',
  }),
  REQUIRE_AUTH_FOR_SESSION: variable(boolean.default(false), {
    meaning: 'every session needs a console login',
    default: 'false',
  }),
  QUOTA_TIMEZONE: variable(timeZone.default('UTC'), { meaning: 'where the calendar day begins', default: 'UTC' }),
  RATE_IP_PER_MIN: variable(integer(1, 1e9, 60), { meaning: 'requests a minute per IP address', default: '60' }),
  RATE_USER_PER_MIN: variable(integer(1, 1e9, 120), { meaning: 'requests a minute per console user', default: '120' }),
  RATE_PAGE_PER_MIN: variable(integer(1, 1e9, 600), {
    meaning: 'requests a minute per IP address for what is not of the API: pages, files, descriptions',
    default: '600',
  }),
  RATE_BURST: variable(integer(1, 1e6, 20), {
    meaning: 'frames the WebSockets of one session may send at once; refilled at RATE_IP_PER_MIN a minute',
    default: '20',
  }),
  MAX_SOCKETS_PER_IP: variable(integer(1, 1e6, 100), {
    meaning: 'open WebSockets per IP address, on each process; a session has four at most, over all of them',
    default: '100',
  }),
  WIDGET_SESSION_PER_MIN: variable(integer(0, 1e6, 12), {
    meaning: 'sessions a minute per widget subject',
    default: '12',
  }),
  CONSOLE_SESSION_PER_MIN: variable(integer(0, 1e6, 3), {
    meaning: 'sessions a minute per console user',
    default: '3',
  }),
  WIDGET_MAX_TOKENS_DAILY: variable(integer(0, 1e12, 300_000), {
    meaning: 'tokens a day per widget subject',
    default: '300000',
  }),
  WIDGET_MAX_TOKENS_PER_MINUTE: variable(integer(0, 1e9, 0), {
    meaning:
      "tokens that a widget's client may report for each connected minute begun, and for one more; 0 is no bound",
    default: '0',
    example: '20000',
  }),
  CONSOLE_MAX_TOKENS_DAILY: variable(integer(0, 1e12, 50_000), {
    meaning: 'tokens a day per console user',
    default: '50000',
  }),
  WIDGET_MAX_DOLLARS_DAILY: variable(dollars(1e6, 20), { meaning: 'dollars a day per widget subject', default: '20' }),
  CONSOLE_MAX_DOLLARS_DAILY: variable(dollars(1e6, 1), { meaning: 'dollars a day per console user', default: '1' }),
  WIDGET_MAX_CONCURRENT_SESSIONS: variable(integer(0, 1e6, 10), {
    meaning: 'open sessions per widget subject',
    default: '10',
  }),
  CONSOLE_MAX_CONCURRENT_SESSIONS: variable(integer(0, 1e6, 1), {
    meaning: 'open sessions per console user',
    default: '1',
  }),
  MAX_SESSION_MINUTES: variable(integer(1, 1440, 15), { meaning: 'maximum duration of a session', default: '15' }),
  MAX_SESSION_IDLE_SEC: variable(integer(1, 86_400, 300), {
    meaning: 'idle seconds after which a session is idle',
    default: '300',
  }),
  STALE_GRACE_SEC: variable(integer(1, 604_800, 3600), {
    meaning: 'idle seconds after which a session is stale',
    default: '3600',
  }),
  STALE_REAP_SEC: variable(integer(0, 604_800, 3600), {
    meaning: 'seconds that a stale session stays visible before it is closed as abandoned',
    default: '3600',
  }),
  HEARTBEAT_INTERVAL_SEC: variable(integer(1, 3600, 45), {
    meaning: 'heartbeat interval, told to clients',
    default: '45',
  }),
  OTP_EXPIRY_MINUTES: variable(integer(1, 1440, 10), { meaning: 'life of a login code', default: '10' }),
  SESSION_EXPIRY_HOURS: variable(integer(1, 8760, 24), { meaning: 'sliding life of a console login', default: '24' }),
  SESSION_ABSOLUTE_HOURS: variable(integer(0, 87_600, 0), {
    meaning: 'absolute cap on a console login; 0 is none',
    default: '0',
  }),
  MAX_OTP_PER_HOUR: variable(integer(1, 1000, 3), { meaning: 'codes an hour per e-mail address', default: '3' }),
  MAX_OTP_VERIFY_ATTEMPTS: variable(integer(1, 100, 5), { meaning: 'attempts per code', default: '5' }),
  LOG_LEVEL: variable(choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'), {
    meaning: 'how much is logged',
    default: 'info',
  }),
  DEBUG_METRICS: variable(boolean.default(false), {
    meaning: 'true: /metrics needs no credential and replies carry Server-Timing',
    default: 'false',
  }),
} satisfies Record<string, Variable<unknown>>;

type Variables = typeof variables;
export type VariableName = keyof Variables;
export type Settings = { readonly [N in VariableName]: Variables[N] extends Variable<infer T> ? T : never };
