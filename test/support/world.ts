import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from './client.ts';
import { TestProvider } from './provider.ts';
import { freshDatabase, type FreshDatabase } from './services/fresh-database.ts';
import { TestSmtp } from './smtp.ts';
import { Switchboard, type Ending, type Environment } from './switchboard.ts';

export const site = 'https://www.acme.example';
export const siteKey = 'w_acme_site_11111111111111111111111111111111';

const jwtSecret = 'a-secret-that-only-the-tests-know-0123456789';
export const serviceToken = 'service-token-that-only-the-tests-know';

export interface TenantsFile {
  readonly tenants: readonly { readonly widgetKeys: readonly object[]; readonly [field: string]: unknown }[];
}

/** Settings for a test of the embedded database. */
export const embedded = { DATABASE_URL: '' };

/** One tenant with one key and one agent. */
export const acme: TenantsFile = {
  tenants: [
    {
      id: 'acme',
      widgetKeys: [{ id: 'site', key: siteKey, origin: site }],
      agents: [
        {
          id: 'support',
          model: 'gpt-realtime-2.1',
          voice: 'marin',
          instructions: 'Help the caller.',
          tools: [
            { kind: 'http_tool', name: 'find_order', description: 'Finds an order', url: 'https://acme.example/hook' },
          ],
        },
      ],
    },
  ],
};

/** The service in a process of its own, with a real mail server and a stand-in for a provider, and everything the service ever printed. */
export class World {
  readonly directory: string;
  readonly smtp: TestSmtp;
  readonly provider: TestProvider;
  /** Codes, tokens, secrets and addresses that must never be printed. Clients add to it. */
  readonly confidential: Set<string>;
  readonly #environment: Environment;
  readonly #database: FreshDatabase | undefined;
  readonly #started: Switchboard[] = [];
  #server: Switchboard | undefined;

  private constructor(
    directory: string,
    smtp: TestSmtp,
    provider: TestProvider,
    database: FreshDatabase | undefined,
    environment: Environment,
  ) {
    this.directory = directory;
    this.#database = database;
    this.smtp = smtp;
    this.provider = provider;
    this.confidential = new Set([provider.apiKey, jwtSecret, serviceToken]);
    this.#environment = {
      DATA_DIR: join(directory, 'data'),
      ...(database === undefined ? {} : { DATABASE_URL: database.url }),
      TENANTS_FILE: join(directory, 'tenants.json'),
      SMTP_URL: smtp.url,
      UPSTREAM_PROVIDER: 'openai',
      OPENAI_API_KEY: provider.apiKey,
      UPSTREAM_BASE_URL: provider.baseUrl,
      JWT_SECRET: jwtSecret,
      SERVICE_TOKENS: serviceToken,
      RATE_IP_PER_MIN: '100000',
      RATE_USER_PER_MIN: '100000',
      ...environment,
    };
  }

  /**
   * Starts on PostgreSQL where it is installed: the embedded database takes a second longer to start.
   * @param environment what differs from the settings of most tests; see `embedded`
   */
  static async start(environment: Environment = {}, tenants: TenantsFile = acme): Promise<World> {
    const directory = await mkdtemp(join(tmpdir(), 'switchboard-e2e-'));
    const database = 'DATABASE_URL' in environment ? undefined : await freshDatabase();
    const world = new World(directory, await TestSmtp.start(), await TestProvider.start(), database, environment);
    try {
      await world.writeTenants(tenants);
      await world.startServer();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  get environment(): Environment {
    return this.#environment;
  }

  get server(): Switchboard {
    if (this.#server === undefined) throw new Error('the server was not started');
    return this.#server;
  }

  async startServer(environment: Environment = {}): Promise<Switchboard> {
    const server = await Switchboard.start({ ...this.#environment, ...environment });
    this.#started.push(server);
    this.#server = server;
    return server;
  }

  /** Ends the server with the signal and starts another one on the same data. */
  async restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<Ending> {
    const ending = await this.server.end(signal);
    await this.startServer();
    return ending;
  }

  /** Replaces the tenants file atomically, as deployments do. */
  async writeTenants(tenants: TenantsFile | string): Promise<void> {
    const file = join(this.directory, 'tenants.json');
    await writeFile(`${file}.new`, typeof tenants === 'string' ? tenants : JSON.stringify(tenants));
    await rename(`${file}.new`, file);
  }

  /** A visitor of the tenant's website. */
  visitor(origin = site): Client {
    return new Client(() => this.server.origin, this.confidential, { Origin: origin });
  }

  /** A browser without a login. */
  person(): Client {
    return new Client(() => this.server.origin, this.confidential);
  }

  /** A tenant's back end, with a service token. */
  backend(origin = () => this.server.origin, headers: Readonly<Record<string, string>> = {}): Client {
    return new Client(origin, this.confidential, { Authorization: `Bearer ${serviceToken}`, ...headers });
  }

  /** Requests a login code and reads it from the mail. */
  async mailedCode(client: Client, email: string): Promise<string> {
    this.confidential.add(email);
    const sent = await client.post('/api/auth/otp/send', { email });
    if (sent.status !== 200) throw new Error(`no code was sent: ${sent.text}`);
    const mail = await this.smtp.nextMail();
    const code = /\b\d{6}\b/.exec(mail.parsed.text ?? '')?.[0] ?? '';
    this.confidential.add(code);
    return code;
  }

  /** A browser that logged in with a code from its mail. */
  async login(email: string): Promise<Client> {
    const client = this.person();
    const code = await this.mailedCode(client, email);
    const verified = await client.post('/api/auth/otp/verify', { email, code });
    if (verified.status !== 200) throw new Error(`no login: ${verified.text}`);
    return client;
  }

  /** Everything the servers of this world printed. */
  printed(): string {
    return this.#started.map(({ output }) => output.stdout + output.stderr).join('');
  }

  /** Those confidential values that were printed. */
  leaks(): string[] {
    const printed = this.printed();
    return [...this.confidential].filter((value) => value !== '' && printed.includes(value));
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map((server) => server.end('SIGKILL')));
    await this.smtp.close();
    await this.provider.close();
    await this.#database?.drop();
    await rm(this.directory, { recursive: true, force: true });
  }
}
