import { readConfig } from '../../../config/config.ts';
import { randomId } from '../../../src/kernel/ids.ts';
import { createConsoleLogins } from '../../../src/auth/console-logins.ts';
import { createTokens } from '../../../src/auth/tokens.ts';
import { openDatabase } from '../../../src/database/open.ts';
import { systemClock } from '../../../src/kernel/time.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { openRedis } from '../../../src/redis/connection.ts';
import { createRedisBus } from '../../../src/stores/bus/redis.ts';
import { createInProcessBus } from '../../../src/stores/in-process.ts';
import { createPostgresStores } from '../../../src/stores/postgres.ts';
import { findKey, revokeKey } from '../../../src/tenants/keys.ts';
import type { About, Call, Journal, Outcome } from '../../support/journal.ts';
import { environment, tenantId } from './settings.ts';

/** The node number of revocations, which no node makes. */
const NOWHERE = -1;
const ignore = (): void => undefined;

/** Revokes keys and logins from outside the nodes, with the product's own code: the nodes must hear of it. */
export class Operator {
  readonly #database;
  readonly #redis;
  readonly #bus;
  readonly #logins;
  readonly #tenants;
  readonly #by;
  readonly #journal: Journal;

  private constructor(
    database: Awaited<ReturnType<typeof openDatabase>>,
    redisUrl: string | undefined,
    journal: Journal,
  ) {
    const { logins, tenants, journal: acts } = createPostgresStores(database);
    this.#database = database;
    this.#redis = redisUrl === undefined ? undefined : openRedis({ urls: [redisUrl], prefix: 'switchboard' });
    const bus =
      this.#redis === undefined ? undefined : createRedisBus({ redis: this.#redis, node: randomId(), onError: ignore });
    this.#bus = bus;
    const heard = bus ?? createInProcessBus(ignore);
    const { auth } = readConfig({ ...environment, UPSTREAM_PROVIDER: 'local' });
    const tokens = createTokens(['of no use, because it signs nothing']);
    this.#logins = createConsoleLogins({ logins, tokens, bus: heard, limits: auth, admits: () => true });
    this.#tenants = { tenants, acts, bus: heard, clock: systemClock };
    this.#by = { actor: 'operator', role: 'cli' } as const;
    this.#journal = journal;
  }

  static async open(databaseUrl: string, redisUrl: string | undefined, journal: Journal): Promise<Operator> {
    return new Operator(await openDatabase({ databaseUrl, dataDir: '' }), redisUrl, journal);
  }

  /** @returns whether the revocation is acknowledged */
  revokeKey(keyId: string): Promise<boolean> {
    return this.#note('revokeKey', { keyId }, async () => {
      const key = await findKey(tenantId, keyId, this.#tenants);
      return key && revokeKey(key, this.#by, this.#tenants);
    });
  }

  revokeLogin(email: string, loginId: string): Promise<boolean> {
    return this.#note('revokeLogin', { email }, () => this.#logins.destroy(loginId, 'revoked', Date.now()));
  }

  async close(): Promise<void> {
    this.#logins.close();
    await this.#bus?.close();
    await this.#redis?.close();
    await this.#database.close();
  }

  async #note(call: Call, about: About, work: () => Promise<unknown>): Promise<boolean> {
    const sentAt = Date.now();
    const outcome = await work().then((): Outcome => 200, awayOnly);
    this.#journal.add({
      call,
      about,
      outcome,
      sentAt,
      node: NOWHERE,
      doneAt: Date.now(),
      code: outcome === 200 ? undefined : 'SERVICE_UNAVAILABLE',
      reason: undefined,
    });
    return outcome === 200;
  }
}

function awayOnly(fault: unknown): Outcome {
  if (fault instanceof Unavailable) return 503;
  throw fault;
}
