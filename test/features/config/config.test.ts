import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../config/config.ts';
import type { VariableName } from '../../../config/variables.ts';

function problemsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError)
      return Object.fromEntries(error.problems.map(({ name, message }) => [name, message]));
    throw error;
  }
  return {};
}

const secret = 'x'.repeat(32);
const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://voice.example.com',
  DATABASE_URL: 'postgres://user:hunter2@db.example.com/switchboard',
  REDIS_URL: 'rediss://:hunter2@redis.example.com:6379',
  SMTP_URL: 'smtps://user:hunter2@smtp.example.com',
  OPENAI_API_KEY: 'sk-hunter2',
  JWT_SECRET: secret,
  CONSOLE_EMAILS: '@example.com',
  CALL_MODE: 'brokered',
};

describe('The settings', () => {
  test('have the documented defaults', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      mode: 'development',
      port: 3000,
      publicUrl: undefined,
      upstream: { provider: 'local', timeoutMs: 8000, clientSecretTtlSec: 60 },
      bots: { provider: 'none' },
      consoleEmails: ['*'],
      operatorEmails: ['*'],
      edge: { perIpPerMinute: 60, perUserPerMinute: 120, burst: 20 },
      voice: { maxMinutes: 15, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 },
      otp: { expiryMinutes: 10, perHour: 3, maxAttempts: 5 },
      auth: { expiryHours: 24, absoluteHours: 720 },
    });
    expect(config.callers.widget).toEqual({
      sessionsPerMinute: 12,
      dailyTokens: 300_000,
      dailyMicroDollars: 20_000_000,
      concurrentSessions: 10,
    });
    expect(config.callers.console).toEqual({
      sessionsPerMinute: 3,
      dailyTokens: 50_000,
      dailyMicroDollars: 1_000_000,
      concurrentSessions: 1,
    });
  });

  test('count an empty value as unset, and take white space off', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '  ', HOST: ' ::1 ' })).toMatchObject({
      port: 3000,
      host: '::1',
      databaseUrl: undefined,
    });
  });

  test('in production say who opens the calls of sessions', () => {
    const { CALL_MODE: _, ...silent } = production;
    expect(problemsOf(silent)).toEqual({ CALL_MODE: 'is missing and production needs it' });
    for (const mode of ['brokered', 'direct']) expect(readConfig({ ...silent, CALL_MODE: mode }).calls.mode).toBe(mode);
    expect(readConfig({}).calls.mode).toBe('direct');
  });

  test('let only this machine reach a service that is not in production, unless HOST says otherwise', () => {
    expect(readConfig({}).host).toBe('127.0.0.1');
    expect(readConfig({ NODE_ENV: 'test' }).host).toBe('127.0.0.1');
    expect(readConfig({ HOST: '0.0.0.0' }).host).toBe('0.0.0.0');
    expect(readConfig(production).host).toBe('0.0.0.0');
  });

  test('in production say who may log in', () => {
    expect(problemsOf({ ...production, CONSOLE_EMAILS: '' })).toEqual({
      CONSOLE_EMAILS: 'is missing and production needs it',
    });
    expect(readConfig(production).needsAdmins).toBe(false);
    expect(readConfig({ ...production, CONSOLE_EMAILS: 'a@b.example,*' }).needsAdmins).toBe(true);
    expect(readConfig({})).toMatchObject({ consoleEmails: ['*'], needsAdmins: false });
  });

  test('in production make no operator of everybody who receives mail', () => {
    const problem = {
      OPERATOR_EMAILS: 'must not be * in production while CONSOLE_EMAILS=* lets everybody log in: list the operators',
    };
    expect(problemsOf({ ...production, CONSOLE_EMAILS: '*', OPERATOR_EMAILS: 'a@b.example,*' })).toEqual(problem);
    expect(readConfig({ ...production, CONSOLE_EMAILS: '@b.example', OPERATOR_EMAILS: '*' }).operatorEmails).toEqual([
      '*',
    ]);
    expect(readConfig({ CONSOLE_EMAILS: '*', OPERATOR_EMAILS: '*' }).operatorEmails).toEqual(['*']);
  });

  test('in production have nobody as operator and a bot detector', () => {
    expect(readConfig(production)).toMatchObject({
      operatorEmails: [],
      bots: { provider: 'heuristic' },
      upstream: { provider: 'openai' },
    });
  });

  test('take dollars to the sixth decimal, exactly', () => {
    expect(readConfig({ WIDGET_MAX_DOLLARS_DAILY: '0.000001' }).callers.widget.dailyMicroDollars).toBe(1);
    expect(readConfig({ WIDGET_MAX_DOLLARS_DAILY: '4.35' }).callers.widget.dailyMicroDollars).toBe(4_350_000);
  });

  test('take the slash off that address bars add to PUBLIC_URL', () => {
    expect(readConfig({ PUBLIC_URL: 'http://localhost:8080/' }).publicUrl).toBe('http://localhost:8080');
  });

  test('take lists with white space, and addresses in any case', () => {
    expect(readConfig({ CONSOLE_EMAILS: 'Ops@Example.com, @Example.org,' }).consoleEmails).toEqual([
      'ops@example.com',
      '@example.org',
    ]);
    expect(readConfig({ JWT_SECRET: `${secret}, ${secret}y` }).jwtSecrets).toEqual([secret, `${secret}y`]);
  });

  test('believe the proxies of a list, of both families', () => {
    const proxies = readConfig({ TRUST_PROXY: '10.0.0.0/8, 192.0.2.7, 2001:db8::/32' }).trustedProxies;
    expect([proxies.check('10.9.9.9'), proxies.check('192.0.2.8'), proxies.check('2001:db8::1', 'ipv6')]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('A wrong value is told with its variable:', () => {
  test.each<[VariableName, string, string]>([
    ['NODE_ENV', 'prod', 'must be one of development, test, production, not "prod"'],
    ['PORT', '65536', 'must be at most 65535, not "65536"'],
    ['PORT', '3000x', 'must be a whole number from 0 to 65535, not "3000x"'],
    ['MAX_SESSION_MINUTES', '0', 'must be at least 1, not "0"'],
    ['MAX_SESSION_MINUTES', '1.5', 'must be a whole number from 1 to 1440, not "1.5"'],
    ['RATE_IP_PER_MIN', '-1', 'must be a whole number from 1 to 1000000000, not "-1"'],
    ['WIDGET_MAX_DOLLARS_DAILY', '0.0000001', 'must be an amount of dollars with at most 6 decimals, not "0.0000001"'],
    ['REQUIRE_AUTH_FOR_SESSION', 'yes', 'must be true or false, not "yes"'],
    [
      'PUBLIC_URL',
      'https://a.example/app',
      'must be the address that browsers use, such as https://voice.example.com, without a path',
    ],
    ['DATABASE_URL', 'mysql://db', 'must be an address that starts with postgres:// or postgresql://'],
    ['REDIS_URL', 'redis://a,http://b', 'must be an address that starts with redis:// or rediss://'],
    ['REDIS_PREFIX', 'a{b}', 'must be 1 to 64 letters, digits, dots, colons, dashes or underscores, not "a{b}"'],
    ['SMTP_URL', 'smtp.example.com', 'must be an address that starts with smtp:// or smtps://'],
    [
      'MAIL_FROM',
      'nobody',
      'must be an address such as no-reply@example.com or Example <no-reply@example.com>, not "nobody"',
    ],
    [
      'MAIL_FROM',
      'Example <a@b..c>',
      'must be an address such as no-reply@example.com or Example <no-reply@example.com>, not "Example <a@b..c>"',
    ],
    ['SMTP_URL', 'smtp://', 'must name a server'],
    ['SMTP_URL', 'smtp://smtp.example.com?tls=maybe', 'can have no option but tls=required or tls=optional'],
    [
      'SMTP_URL',
      'smtp://user:100%@smtp.example.com',
      'must have user and password percent-encoded (a % sign is written %25)',
    ],
    ['OPENAI_API_KEY', ' , ', 'must hold a key'],
    ['OPENAI_API_KEY', 'sk-1,sk-two words', 'must be printable ASCII without spaces'],
    ['OPENAI_API_KEY', 'sk-two words', 'must be printable ASCII without spaces'],
    ['BOT_VERDICT_TOKEN', 'schlüssel', 'must be printable ASCII without spaces'],
    ['JWT_SECRET', 'short', 'each must have 32 or more characters'],
    ['JWT_SECRET', ',', 'must hold a secret'],
    ['JWT_SECRET', 'the output of: openssl rand -base64 48', 'is the example: run the command and use what it prints'],
    ['SERVICE_TOKENS', 'short', 'each must have 16 or more characters'],
    ['CONSOLE_EMAILS', 'ops@a.example,ops', '"ops" is not an address, a @domain or *'],
    ['CONSOLE_EMAILS', '*@a.example', '"*@a.example" is not an address, a @domain or *'],
    ['OPERATOR_EMAILS', '@*', '"@*" is not an address, a @domain or *'],
    ['OPERATOR_EMAILS', '@*.a.example', '"@*.a.example" is not an address, a @domain or *'],
    [
      'CONSOLE_ORIGINS',
      'https://*.example.com',
      'must be an origin such as https://www.example.com, without a path, a trailing slash or a wildcard',
    ],
    ['TRUST_PROXY', '10.0.0.0/33', '"10.0.0.0/33" is not an address or a CIDR block such as 10.0.0.0/8'],
    ['QUOTA_TIMEZONE', 'Mars/Olympus', 'must be a time zone such as UTC or Europe/Berlin, not "Mars/Olympus"'],
    ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent, not "loud"'],
  ])('%s=%s', (name, value, message) => {
    expect(problemsOf({ [name]: value })).toEqual({ [name]: message });
  });

  test('a provider, a detector or a grace that lacks its counterpart', () => {
    expect(problemsOf({ UPSTREAM_PROVIDER: 'openai', BOT_PROVIDER: 'http', MAX_SESSION_IDLE_SEC: '7200' })).toEqual({
      OPENAI_API_KEY: 'is missing and UPSTREAM_PROVIDER=openai needs it',
      BOT_VERDICT_URL: 'is missing and BOT_PROVIDER=http needs it',
      STALE_GRACE_SEC: 'must not be less than MAX_SESSION_IDLE_SEC',
    });
    expect(problemsOf({ BOT_PROVIDER: 'hcaptcha', BOT_MIN_SCORE: '1.1' })).toEqual({
      BOT_SITE_KEY: 'is missing and BOT_PROVIDER=hcaptcha needs it',
      BOT_SECRET: 'is missing and BOT_PROVIDER=hcaptcha needs it',
      BOT_MIN_SCORE: 'must be a number from 0 to 1 with at most 3 decimals, not "1.1"',
    });
  });
});

describe('A choice', () => {
  const key = { OPENAI_API_KEY: '' };

  test('needs what belongs to it, in production also where nothing is chosen, and nothing of the other choices', () => {
    const missing = { OPENAI_API_KEY: 'is missing and production needs it' };
    expect(problemsOf({ ...production, ...key })).toEqual(missing);
    expect(problemsOf({ ...production, ...key, UPSTREAM_PROVIDER: 'openai' })).toEqual(missing);
    expect(Object.keys(problemsOf({ ...production, ...key, UPSTREAM_PROVIDER: 'local' }))).toEqual([
      'UPSTREAM_PROVIDER',
    ]);
    expect(problemsOf({ BOT_PROVIDER: 'heuristic' })).toEqual({});
  });

  test('of a provider needs its own key, and calls of its own kind', () => {
    expect(problemsOf({ ...key, UPSTREAM_PROVIDER: 'openai-live' })).toEqual({
      OPENAI_API_KEY: 'is missing and UPSTREAM_PROVIDER=openai-live needs it',
      CALL_MODE: 'must be brokered with UPSTREAM_PROVIDER=openai-live, which has no client secrets',
    });
    expect(() => readConfig({ ...key, UPSTREAM_PROVIDER: 'openai-live' })).toThrow('example: CALL_MODE=brokered');
    expect(problemsOf({ UPSTREAM_PROVIDER: 'azure' })).toEqual({
      AZURE_OPENAI_ENDPOINT: 'is missing and UPSTREAM_PROVIDER=azure needs it',
      AZURE_OPENAI_API_KEY: 'is missing and UPSTREAM_PROVIDER=azure needs it',
    });
    expect(problemsOf({ UPSTREAM_PROVIDER: 'openai-live', OPENAI_API_KEY: 'sk-1', CALL_MODE: 'brokered' })).toEqual({});
    expect(problemsOf({ UPSTREAM_PROVIDER: 'gemini' })).toEqual({
      GEMINI_API_KEY: 'is missing and UPSTREAM_PROVIDER=gemini needs it',
    });
    expect(problemsOf({ UPSTREAM_PROVIDER: 'gemini', GEMINI_API_KEY: 'k' })).toEqual({});
  });

  test('of LiveKit needs an address that browsers can use, and a secret for each key', () => {
    const chosen = { UPSTREAM_PROVIDER: 'livekit' };
    const needed = ' is missing and UPSTREAM_PROVIDER=livekit needs it'.trim();
    expect(problemsOf(chosen)).toEqual({ LIVEKIT_URL: needed, LIVEKIT_API_KEY: needed, LIVEKIT_API_SECRET: needed });
    const set = {
      ...chosen,
      LIVEKIT_URL: 'ws://livekit:7880',
      LIVEKIT_API_KEY: 'a,b',
      LIVEKIT_API_SECRET: 'short,short',
    };
    expect(problemsOf(set)).toEqual({});
    expect(problemsOf({ ...set, LIVEKIT_API_SECRET: 'short' })).toEqual({
      LIVEKIT_API_SECRET: 'must have one secret for each key of LIVEKIT_API_KEY, in the same order',
    });
    expect(problemsOf({ ...set, LIVEKIT_URL: 'livekit.example.com' })).toEqual({
      LIVEKIT_URL: 'must be an address that starts with wss:// or https:// or ws:// or http://',
    });
    expect(problemsOf({ ...production, ...set })).toEqual({
      LIVEKIT_URL:
        'must start with wss:// or https:// in production: browsers and our secret use it (ws:// is only for localhost)',
      LIVEKIT_API_SECRET: 'must have 32 or more characters each: who guesses one can join and end every room',
    });
    const secret = 'x'.repeat(32);
    const good = { ...production, ...set, LIVEKIT_API_SECRET: `${secret},${secret}` };
    for (const LIVEKIT_URL of ['wss://a.livekit.cloud', 'https://a.livekit.cloud', 'ws://localhost:7880'])
      expect(problemsOf({ ...good, LIVEKIT_URL })).toEqual({});
  });

  test('of several workers needs stores that they can share', () => {
    const message = 'is missing and more than one of WORKERS need it';
    expect(problemsOf({ WORKERS: '2' })).toEqual({ DATABASE_URL: message, REDIS_URL: message });
    expect(problemsOf({ WORKERS: '2', DATABASE_URL: production.DATABASE_URL })).toEqual({ REDIS_URL: message });
  });
});

describe('Production', () => {
  test('is told everything that is missing and wrong at once, with its use and an example', () => {
    const env = { NODE_ENV: 'production', PORT: 'x', JWT_SECRET: 'short', UPSTREAM_PROVIDER: 'local' };
    const problems = problemsOf(env);
    expect(Object.keys(problems).sort()).toEqual([
      'CALL_MODE',
      'CONSOLE_EMAILS',
      'DATABASE_URL',
      'JWT_SECRET',
      'PORT',
      'PUBLIC_URL',
      'REDIS_URL',
      'SMTP_URL',
      'UPSTREAM_PROVIDER',
    ]);
    const { message } = new ConfigError([{ name: 'REDIS_URL', message: 'is missing' }]);
    expect(message).toContain('REDIS_URL: is missing');
    expect(message).toContain('what it is for: the store for edge rate limits and the live registry');
    expect(message).toContain('example: REDIS_URL=redis://');
  });

  test('needs https, except on this machine', () => {
    expect(problemsOf({ ...production, PUBLIC_URL: 'http://voice.example.com' })).toEqual({
      PUBLIC_URL: 'must start with https:// in production (http:// is only for localhost)',
    });
    expect(problemsOf({ ...production, PUBLIC_URL: 'http://localhost:3000' })).toEqual({});
  });

  test('is never told its secrets', () => {
    const broken = {
      ...production,
      DATABASE_URL: 'db://user:hunter2@db.example.com',
      REDIS_URL: 'http://:hunter2@redis.example.com',
      SMTP_URL: 'smtp//user:hunter2@smtp.example.com',
      UPSTREAM_BASE_URL: 'ftp://user:hunter2@example.com',
      BOT_VERDICT_URL: 'hunter2://x',
      JWT_SECRET: 'hunter2',
      SERVICE_TOKENS: 'hunter2',
    };
    const message = (() => {
      try {
        readConfig(broken);
        return '';
      } catch (error) {
        return String(error);
      }
    })();
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL', 'JWT_SECRET', 'SERVICE_TOKENS', 'UPSTREAM_BASE_URL'])
      expect(message).toContain(`${name}: `);
    expect(message).not.toContain('hunter2');
  });
});
