import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ListedSession } from './client.ts';
import { freshDatabase, type FreshDatabase } from './services/fresh-database.ts';
import { freePort } from './services/server-process.ts';
import { demoTenantsAnd, type MoreTenants } from './demo-tenants.ts';
import { openStored } from './stored.ts';
import { Switchboard, type Environment } from './switchboard.ts';

export const serviceToken = 'service-token-that-only-the-browser-tests-know';

export interface SeenSession extends ListedSession {
  readonly session: { readonly startedAt: string; readonly lastSeenAt: string; readonly idleSec: number };
}

/** The built service on a port that it keeps across restarts, as behind a real name. */
export class DemoServer {
  /** The port on which the process listens. */
  readonly port: number;
  readonly direct: string;
  readonly #directory: string;
  readonly #environment: Environment;
  readonly #database: FreshDatabase | undefined;
  #server: Switchboard | undefined;

  private constructor(directory: string, port: number, database: FreshDatabase | undefined, environment: Environment) {
    this.#directory = directory;
    this.#database = database;
    this.port = port;
    this.direct = `http://localhost:${port}`;
    this.#environment = {
      PORT: String(port),
      // In development an echo answers calls, and every visitor is asked for a microphone.
      NODE_ENV: 'test',
      DATA_DIR: join(directory, 'data'),
      ...(database === undefined ? {} : { DATABASE_URL: database.url }),
      HEARTBEAT_INTERVAL_SEC: '1',
      SERVICE_TOKENS: serviceToken,
      RATE_IP_PER_MIN: '100000',
      WIDGET_SESSION_PER_MIN: '1000',
      ...environment,
    };
  }

  /** @param more what its tenants file has besides the demo's */
  static async start(environment: Environment = {}, more?: MoreTenants): Promise<DemoServer> {
    const directory = await mkdtemp(join(tmpdir(), 'switchboard-browser-'));
    const all = { ...environment, ...(await demoTenantsAnd(more, directory)) };
    const server = new DemoServer(directory, await freePort(), await freshDatabase(), all);
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    this.#server = await Switchboard.start(this.#environment);
  }

  /** Ends the process; `start` begins another one on the same port and data. */
  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.#server?.end(signal);
  }

  /** Moves the start of all stored sessions into the past; the server must not be running. */
  async age(ms: number): Promise<void> {
    const database = await openStored(this.#environment);
    await database.run((sql) => sql`update voice_session set started_at_ms = started_at_ms - ${ms}`);
    await database.close();
  }

  /** Stores `count` open sessions of a tenant, as many visitors would leave them; the server must not be running. */
  async crowd(tenantId: string, count: number): Promise<void> {
    const database = await openStored(this.#environment);
    const now = Date.now();
    await database.run(
      (sql) => sql`
        insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard,
          started_at_ms, last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
        select 's:' || md5(n::text) || ':' || substr(md5(n || 'x'), 1, 22), md5(n::text), 'widget', ${tenantId}, 'guide', 'site', true, null,
          'local', 'sess_crowd_' || n, false, ${now}::bigint, ${now}::bigint, ${now}::bigint, ${now}::bigint, null, null, 'engaged', 1
        from generate_series(1, ${count}::int) as n`,
    );
    await database.close();
  }

  /** Drops the database of the running server for good. @returns whether it has one that can be dropped */
  async loseDatabase(): Promise<boolean> {
    await this.#database?.drop();
    return this.#database !== undefined;
  }

  /** The session as an operator sees it. */
  async session(id: string): Promise<SeenSession | undefined> {
    return (await this.#list()).find((session) => session.id === id);
  }

  /** The sessions that have not ended. */
  async live(): Promise<readonly SeenSession[]> {
    return (await this.#list()).filter(({ state }) => state !== 'ended');
  }

  async #list(): Promise<readonly SeenSession[]> {
    const operator = new Client(() => this.direct, new Set(), { Authorization: `Bearer ${serviceToken}` });
    const { body } = await operator.get('/api/operator/sessions');
    return (body.sessions ?? []) as readonly SeenSession[];
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    await this.#database?.drop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
