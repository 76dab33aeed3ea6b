import { randomBytes } from 'node:crypto';
import type { AuthLimits, AuthRecord } from '../../../machines/auth-session/types.ts';
import {
  createConsoleLogins,
  type ConsoleLogins,
  type ConsoleLoginsDeps,
  type OpenedLogin,
} from '../../../src/auth/console-logins.ts';
import { openLogin } from '../../support/login.ts';
import { createLoginCodes, type LoginCodes, type LoginCodesDeps } from '../../../src/auth/verify-code.ts';
import type { Visitor } from '../../../src/auth/address-lock.ts';
import { createSubjects } from '../../../src/auth/subjects.ts';
import { createTokens } from '../../../src/auth/tokens.ts';
import type { Database } from '../../../src/database/database.ts';
import type { Refusal } from '../../../src/protocol/refusal.ts';
import { randomId } from '../../../src/kernel/ids.ts';
import { createInProcessBus } from '../../../src/stores/in-process.ts';
import {
  createPostgresChallenges,
  createPostgresLoginAddresses,
  createPostgresLogins,
} from '../../../src/stores/logins/postgres.ts';
import { createPostgresCounters } from '../../../src/stores/counters/postgres.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
/** The start of an hour. */
export const START = 472_222 * HOUR;

export const secret = 'correct horse battery staple, and then some';

/** Console logins that open a login for any address, without a code. */
export interface TrustingLogins extends Omit<ConsoleLogins, 'open'> {
  open(email: string, atMs: number): Promise<OpenedLogin>;
}

/** The console logins of one node. */
export function consoleLogins(
  database: Database,
  options: Partial<ConsoleLoginsDeps> & Partial<AuthLimits> = {},
): TrustingLogins {
  const { expiryHours = 24, absoluteHours = 0, ...parts } = options;
  const { logins = createPostgresLogins(database) } = parts;
  const sessions = createConsoleLogins({
    logins,
    bus: createInProcessBus(),
    tokens: createTokens([secret]),
    limits: { expiryHours, absoluteHours },
    admits: () => true,
    ...parts,
  });
  return { ...sessions, open: (email, atMs) => openLogin(sessions, logins, email, atMs) };
}

export const installationKey = randomBytes(32);

/** The network address that a visitor comes from by default. */
export const HERE = '192.0.2.1';

/** Login codes for a new login with each call; `send` answers only once its mail has been sent or has failed. */
export interface TestLoginCodes {
  send(email: string, atMs: number, from?: string, device?: string): ReturnType<LoginCodes['send']>;
  verify(email: string, code: string, atMs: number, from?: string, device?: string): Promise<true | Refusal>;
  /** The real login codes. */
  readonly codes: LoginCodes;
}

/** The login codes of one node. */
export function loginCodes(
  database: Database,
  options: Partial<LoginCodesDeps> & Pick<LoginCodesDeps, 'mailer'>,
): TestLoginCodes {
  const codes = createLoginCodes({
    challenges: createPostgresChallenges(database),
    counters: createPostgresCounters(database),
    addresses: createPostgresLoginAddresses(database),
    subjects: createSubjects(installationKey),
    installationKey,
    limits: { expiryMinutes: 10, perHour: 3, maxAttempts: 5, failuresPerDay: 100_000, newMailsPerHour: 100_000 },
    admits: () => true,
    publicUrl: () => 'http://localhost:3000',
    ...options,
  });
  return {
    codes,
    send: async (email, atMs, from = HERE, device) => {
      try {
        return await codes.send(email, visitorOf(from, device), atMs);
      } finally {
        await codes.settled();
      }
    },
    verify: (email, code, atMs, from = HERE, device) =>
      codes.verify(loginOf(email, atMs), code, visitorOf(from, device), atMs),
  };
}

/** When device cookies expire: after every test. */
export const DEVICE_UNTIL_MS = 1_000_000_000 * HOUR;

/** @param device the id of a device cookie */
function visitorOf(from: string, device: string | undefined): Visitor {
  return { from, device: device === undefined ? undefined : { id: device, untilMs: DEVICE_UNTIL_MS } };
}

/** A login that starts now and expires in an hour. */
function loginOf(email: string, atMs: number): AuthRecord {
  const times = { createdAtMs: atMs, renewedAtMs: atMs, expiresAtMs: atMs + HOUR };
  return { id: `auth_${randomId()}`, email, ...times, destroyedAtMs: null, destroyReason: null, version: 1 };
}

let people = 0;

/** An address that no other test uses. */
export function somebody(): string {
  people += 1;
  return `person${people}@example.com`;
}
