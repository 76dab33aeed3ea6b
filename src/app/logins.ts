import type { Config } from '../../config/config.ts';
import type { Trace } from '../actors/trace.ts';
import { createConsoleLogins } from '../auth/console-logins.ts';
import { createDeviceCookies } from '../auth/device-cookie.ts';
import { createLoginCodes } from '../auth/login-codes.ts';
import type { Subjects } from '../auth/subjects.ts';
import { createTokens } from '../auth/tokens.ts';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import type { ChallengeRecord } from '../../machines/otp-challenge/types.ts';
import { MailRefused, type Mailer } from '../mail/contract.ts';
import { matchesEmailList } from '../protocol/email.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { DurableStores } from '../stores/postgres.ts';
import type { Events } from '../telemetry/events.ts';

export interface LoginParts {
  readonly config: Config;
  readonly stores: DurableStores;
  readonly bus: Bus;
  readonly mailer: Mailer;
  readonly subjects: Subjects;
  readonly installationKey: Buffer;
  readonly events: Events;
  readonly trace: Trace<AuthRecord> & Trace<ChallengeRecord>;
  readonly publicUrl: () => string;
  /** Whether the public URL is https. */
  readonly isHttps: () => boolean;
}

/** Wires who logs in, and by what. */
export async function wireLogins(parts: LoginParts) {
  const { config, stores, bus, mailer, subjects, installationKey, events, trace, publicUrl, isHttps } = parts;
  const jwtSecrets = config.jwtSecrets ?? [(await stores.installation.secret('development-jwt')).toString('base64url')];
  const admits = (email: string): boolean => matchesEmailList(email, config.consoleEmails);
  const logins = createConsoleLogins({
    logins: stores.logins,
    bus,
    tokens: createTokens(jwtSecrets),
    limits: config.auth,
    admits,
    trace,
  });
  const codes = createLoginCodes({
    challenges: stores.challenges,
    counters: stores.counters,
    addresses: stores.loginAddresses,
    mailer,
    subjects,
    installationKey,
    limits: config.otp,
    admits,
    publicUrl,
    trace,
    onSpent: (scope, domain) => events.loginBudgetSpent(scope, domain),
    onFault: (error) =>
      error instanceof MailRefused ? events.mailRefused(error) : events.faulted(error, undefined, 'login mail'),
  });
  return { admits, logins, codes, devices: createDeviceCookies(installationKey, subjects, isHttps) };
}
