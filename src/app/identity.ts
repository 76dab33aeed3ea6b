import { createConsoleLogins } from '../auth/console-logins.ts';
import { createDeviceCookies } from '../auth/cookies.ts';
import type { Identity } from '../auth/identity.ts';
import { createLoginCodes } from '../auth/verify-code.ts';
import { createServiceTokens } from '../auth/service-tokens.ts';
import { createSubjects } from '../auth/subjects.ts';
import { createTokens } from '../auth/tokens.ts';
import { MailRefused } from '../mail/contract.ts';
import { matchesEmailList } from '../protocol/email.ts';
import type { Core } from './core.ts';

/** Sets up logins, codes and service tokens. @throws Unavailable when the database is away */
export async function openIdentity(core: Core): Promise<Identity> {
  const { config, stores, live, journal, events, installationKey, isHttps } = core;
  const jwtSecrets = config.jwtSecrets ?? [(await stores.installation.secret('development-jwt')).toString('base64url')];
  const subjects = createSubjects(installationKey);
  const admits = (email: string): boolean => matchesEmailList(email, config.consoleEmails);
  return {
    subjects,
    admits,
    logins: createConsoleLogins({
      logins: stores.logins,
      bus: live.bus,
      tokens: createTokens(jwtSecrets),
      limits: config.auth,
      admits,
      trace: journal.trace,
    }),
    codes: createLoginCodes({
      ...core,
      challenges: stores.challenges,
      counters: stores.counters,
      addresses: stores.loginAddresses,
      subjects,
      limits: config.otp,
      admits,
      trace: journal.trace,
      onSpent: (scope, domain) => events.loginBudgetSpent(scope, domain),
      onFault: (error) =>
        error instanceof MailRefused ? events.mailRefused(error) : events.faulted(error, undefined, 'login mail'),
    }),
    devices: createDeviceCookies(installationKey, subjects, isHttps),
    serviceOf: createServiceTokens(config.serviceTokens),
  };
}
