import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuthLimits } from '../../../machines/auth-session/types.ts';
import { createAuthSessions, type AuthSessions, type AuthSessionsDeps } from '../../../src/auth/auth-sessions.ts';
import { createLoginCodes, type LoginCodes, type LoginCodesDeps } from '../../../src/auth/login-codes.ts';
import { createSubjects } from '../../../src/auth/subjects.ts';
import { createTokens } from '../../../src/auth/tokens.ts';
import type { Database } from '../../../src/database/database.ts';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { createInProcessBus } from '../../../src/stores/bus/in-process.ts';
import { createPostgresChallenges } from '../../../src/stores/challenges/postgres.ts';
import { createPostgresCounters } from '../../../src/stores/counters/postgres.ts';
import { createPostgresLogins } from '../../../src/stores/logins/postgres.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
/** The beginning of an hour. */
export const START = 472_222 * HOUR;

/** A real database that can be taken away, that can be held up, and that counts what it is asked. */
export class TestDatabase implements Database {
  readonly kind = 'embedded';
  isAway = false;
  asked = 0;
  readonly #real: Database;
  readonly #directory: string;
  readonly #underWay = new Set<Promise<unknown>>();

  private constructor(real: Database, directory: string) {
    this.#real = real;
    this.#directory = directory;
  }

  static async open(): Promise<TestDatabase> {
    const directory = await mkdtemp(join(tmpdir(), 'auth-test-'));
    const real = await openEmbedded({ directory: join(directory, 'db') });
    await migrate(real);
    return new TestDatabase(real, directory);
  }

  run: Database['run'] = async (work, options) => {
    this.#ask();
    const answer = this.#real.run(work, options);
    this.#underWay.add(answer);
    return answer.finally(() => this.#underWay.delete(answer));
  };

  transaction: Database['transaction'] = async (work, options) => {
    this.#ask();
    return this.#real.transaction(work, options);
  };

  ping(): Promise<void> {
    return this.#real.ping();
  }

  /** The next answer is read at once, but told only after the returned function is called. */
  holdNextAnswer(): () => void {
    const { run } = this;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.run = async (work, options) => {
      this.run = run;
      const answer = await run(work, options);
      await gate;
      return answer;
    };
    return () => release();
  }

  /** Resolves when all that was asked is answered, and those who asked have heard it. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    await this.#real.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #ask(): void {
    this.asked += 1;
    if (this.isAway) throw new Unavailable('database');
  }
}

export const secret = 'correct horse battery staple, and then some';

/** The auth sessions of one node. */
export function authSessions(
  database: Database,
  options: Partial<AuthSessionsDeps> & Partial<AuthLimits> = {},
): AuthSessions {
  const { expiryHours = 24, absoluteHours = 0, ...parts } = options;
  return createAuthSessions({
    logins: createPostgresLogins(database),
    bus: createInProcessBus(),
    tokens: createTokens([secret]),
    limits: { expiryHours, absoluteHours },
    admits: () => true,
    ...parts,
  });
}

export const installationKey = randomBytes(32);

/** The login codes of one node. */
export function loginCodes(
  database: Database,
  options: Partial<LoginCodesDeps> & Pick<LoginCodesDeps, 'mailer'>,
): LoginCodes {
  return createLoginCodes({
    challenges: createPostgresChallenges(database),
    counters: createPostgresCounters(database),
    subjects: createSubjects(installationKey),
    installationKey,
    limits: { expiryMinutes: 10, perHour: 3, maxAttempts: 5 },
    admits: () => true,
    publicUrl: () => 'http://localhost:3000',
    ...options,
  });
}

let people = 0;

/** An address that no other test uses. */
export function somebody(): string {
  people += 1;
  return `person${people}@example.com`;
}
