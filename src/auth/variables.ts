import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/**
 * A comma-separated list in lower case: addresses, `@domain` for all addresses of a domain, or `*` for everybody. Other wildcards are refused,
 * because they would match nobody.
 */
const emails: z.ZodType<string[], string> = s.list.transform((entries, context) => {
  for (const entry of entries)
    if (entry !== '*' && !/^[^\s@*]*@[^\s@*]+$/.test(entry))
      context.addIssue({ code: 'custom', message: `"${entry}" is not an address, a @domain or *` });
  return entries.map((entry) => entry.toLowerCase());
});

/** A comma-separated list of secrets with at least this many characters. Messages never repeat a secret. */
function secrets(characters: number): z.ZodType<string[], string> {
  const long = z.string().min(characters, `each must have ${characters} or more characters`);
  return s.list.pipe(
    z.array(
      long.refine((text) => !text.includes('openssl rand'), 'is the example: run the command and use what it prints'),
    ),
  );
}

/** Who may log in, and who is an operator. */
export const access = {
  jwtSecrets: variable(
    'JWT_SECRET',
    secrets(32).pipe(z.array(z.string()).min(1, 'must hold a secret')),
    { unset: 'development: a random one kept in the database' },
    'signs logins; comma-separated for rotation: the first signs, all verify',
    { example: 'the output of: openssl rand -base64 48', production: true, secret: 'all' },
  ),
  consoleEmails: variable(
    'CONSOLE_EMAILS',
    emails,
    { unset: 'development: *' },
    'who may log in: addresses or @domain, comma-separated; * means everybody, in production only if every tenant names admins',
    { example: 'ops@example.com,@example.org', production: true },
  ),
  operatorEmails: variable(
    'OPERATOR_EMAILS',
    emails,
    { unset: 'development: every console user; production: nobody' },
    'who may use the operator console: addresses or @domain',
    { example: 'ops@example.com' },
  ),
  viewerEmails: variable(
    'VIEWER_EMAILS',
    emails,
    '',
    'who may read everything in the operator console but change nothing: addresses or @domain',
    { unset: 'nobody', example: 'support@example.com' },
  ),
  serviceTokens: variable(
    'SERVICE_TOKENS',
    secrets(16),
    '',
    'comma-separated bearer tokens for trusted back ends (usage, metrics, operator API)',
    { unset: 'unset', example: 'the output of: openssl rand -hex 32', secret: 'all' },
  ),
};

/** Codes that are sent by mail. */
export const otp = {
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
};

/** How long a login lasts. */
export const auth = {
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
};
