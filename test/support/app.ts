// Loaded on first use otherwise: a test that ends meanwhile would leave a module that no later file of its worker can load.
import '../../packages/echo/call.ts';
import { createHash } from 'node:crypto';
import { readConfig, type Config } from '../../config/config.ts';
import type { BotDetector } from '../../src/bots/contract.ts';
import type { Database } from '../../src/database/database.ts';
import type { HttpReply, HttpRequest } from '../../src/http/message.ts';
import type { Mailer } from '../../src/mail/contract.ts';
import { DevMailbox } from '../../src/mail/dev-mailbox.ts';
import { buildService, type Service } from '../../src/app/compose.ts';
import { createNodeIdentity, type NodeIdentity } from '../../src/node/this-node.ts';
import { readPrices } from '../../src/metering/prices.ts';
import { createPostgresStores } from '../../src/stores/postgres.ts';
import { createInProcessStores } from '../../src/stores/in-process.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import type { UpstreamProvider } from '../../src/upstream/contract.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { createEvents } from '../../src/telemetry/events.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { dueAt } from '../../src/sessions/deadlines.ts';
import { closeDue } from '../../src/sessions/recovery/sweep.ts';
import { ManualClock } from './clock.ts';
import { FakeProvider } from './fake-provider.ts';
import { openLogin } from './login.ts';
import { changedAt } from './key-change.ts';

/** The origin of the service, where the console is served too. */
export const CONSOLE = 'http://localhost:3000';
export const SERVICE_TOKEN = 'service-token-that-only-the-tests-know';
/** The headers of a request from a tenant's back end. */
export const service = { authorization: `Bearer ${SERVICE_TOKEN}` };
/** The name under which the audit lists that token. */
export const SERVICE_NAME = `service:${createHash('sha256').update(SERVICE_TOKEN).digest('hex').slice(0, 6)}`;

/** Environment variables that name one operator and one viewer. */
export const STAFF = { OPERATOR_EMAILS: 'ops@example.com', VIEWER_EMAILS: 'vera@example.com' };

export interface Request {
  readonly method?: string;
  /** May include a query. */
  readonly path: string;
  /** Strings and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly duplicates?: readonly string[];
  readonly peer?: string;
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** All values of Set-Cookie. */
  readonly cookies: readonly string[];
  readonly text: string;
  /** Empty when the reply is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TestAppOptions {
  readonly database: Database;
  readonly clock?: ManualClock;
  /** Replaces the wait in real time of a request that waits for another one. */
  readonly pause?: (ms: number) => Promise<unknown>;
  readonly provider?: FakeProvider;
  /** Replaces `provider`: a provider whose calls the service opens, or ends, itself. */
  readonly brokered?: UpstreamProvider;
  readonly bots?: BotDetector;
  /** Replaces the development mailbox. */
  readonly mailer?: Mailer;
  /** The live stores of the previous process, for a restart that keeps them. */
  readonly live?: LiveStores;
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

let made = 0;

/** A name that no other test uses. */
export function unique(prefix: string): string {
  made += 1;
  return `${prefix}${made}`;
}

/** An address that no other test uses. */
export const somebody = (): string => `${unique('person')}@example.com`;

/** Reading settings and prices takes a third of the time that a service takes to build, and most tests have the same ones. */
const configs = new Map<string, Config>();
const shippedPrices = readPrices(undefined);

function configOf(env: Readonly<Record<string, string>>): Config {
  const name = JSON.stringify(env);
  const config = configs.get(name) ?? readConfig(env);
  configs.set(name, config);
  return config;
}

type TestService = ReturnType<typeof partsOf>;

/** The service, plus those inner parts of its features that tests look at. */
function partsOf(service: Service) {
  const { core, tenants, identity, usage, calls, operators } = service;
  return {
    ...service,
    ...identity,
    ...usage,
    ...operators,
    stores: core.stores,
    nodes: core.nodes,
    journalWriter: core.journal.writer,
    sessionNotes: core.journal.sessionNotes,
    directory: tenants,
    heldCalls: calls.held,
    tickets: calls.tickets,
  };
}

/** Every part of the service except port and timers, on a manual clock: requests and replies are plain values. */
export class TestApp {
  readonly clock: ManualClock;
  readonly provider: FakeProvider;
  readonly live: LiveStores;
  readonly outbox: DevMailbox;
  readonly service: TestService;
  /** Errors thrown in background work, which no request waited for. */
  readonly faults: readonly unknown[];
  readonly #logLines: readonly string[];
  readonly #node: NodeIdentity;

  private constructor(
    parts: Pick<TestApp, 'clock' | 'provider' | 'live' | 'outbox' | 'service' | 'faults'>,
    logLines: readonly string[],
    node: NodeIdentity,
  ) {
    this.#node = node;
    this.clock = parts.clock;
    this.provider = parts.provider;
    this.live = parts.live;
    this.outbox = parts.outbox;
    this.service = parts.service;
    this.faults = parts.faults;
    this.#logLines = logLines;
  }

  static async build(options: TestAppOptions): Promise<TestApp> {
    const config = configOf({
      NODE_ENV: 'test',
      PUBLIC_URL: CONSOLE,
      SERVICE_TOKENS: SERVICE_TOKEN,
      UPSTREAM_PROVIDER: 'local',
      RATE_IP_PER_MIN: '100000',
      RATE_USER_PER_MIN: '100000',
      ...options.env,
    });
    const { pricesFile } = config.calls;
    const faults: unknown[] = [];
    const onError = (error: unknown): number => faults.push(error);
    const { clock = new ManualClock(), provider = new FakeProvider(), database } = options;
    const live = options.live ?? createInProcessStores(dueAt(config.voice), clock, onError);
    const outbox = new DevMailbox({ clock });
    const node = createNodeIdentity();
    const metrics = new Metrics();
    const logLines: string[] = [];
    const log = createLog(config.logLevel, false, { write: (line) => void logLines.push(line) });
    const service = await buildService({
      config,
      clock,
      ...(options.pause === undefined ? {} : { pause: options.pause }),
      database,
      stores: createPostgresStores(database),
      live,
      provider: options.brokered ?? provider,
      prices: pricesFile === undefined ? shippedPrices : readPrices(pricesFile),
      metrics,
      onError,
      mailer: options.mailer ?? outbox,
      bots: options.bots,
      events: createEvents(log, metrics),
      publicUrl: () => config.publicUrl ?? CONSOLE,
      node,
      requestsGiven: () => requests,
      // A busy machine must not decide the outcome of a test.
      loop: { p99Ms: () => 0 },
      isAccepting: () => true,
    });
    await service.tenants.start();
    return new TestApp({ clock, provider, live, outbox, service: partsOf(service), faults }, logLines, node);
  }

  /** Everything that was logged. */
  logged(): string {
    return this.#logLines.join('');
  }

  get sessions(): Service['sessions'] {
    return this.service.sessions;
  }

  /** Creates a widget key (for the tenant `acme` unless `fields` says otherwise) with an origin of its own. */
  async key(fields: Partial<WidgetKey> = {}): Promise<WidgetKey> {
    const id = unique('key');
    const { tenantId = 'acme' } = fields;
    const defaults = { id, label: '', agents: null, allowOverrides: true, call: null, dataChannel: null };
    const free = { limits: {}, totals: {}, pausedAtMs: null, revokedAtMs: null };
    const key = {
      ...defaults,
      tenantId,
      key: `w_${tenantId}_${id}_00`,
      origin: `https://${id}.example`,
      ...free,
      ...fields,
    };
    await this.service.stores.tenants.issue([key], changedAt(this.clock.now()));
    await this.service.directory.reload();
    return key;
  }

  async send(request: Request): Promise<Reply> {
    const reply = await this.service.handle(toHttp(request, this.clock.now(), this.#node));
    return toReply(reply);
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send({ path, headers });
  }

  post(path: string, body: unknown = {}, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send({ method: 'POST', path, body, headers });
  }

  /** Opens a session for a user of the widget; @returns the whole reply. */
  create(key: WidgetKey, body: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.post('/api/session', { widgetKey: key.key, ...body }, { origin: key.origin, ...headers });
  }

  /** Opens a session and returns its sm_session_id. */
  async open(key: WidgetKey, body: object = {}): Promise<string> {
    const reply = await this.create(key, body);
    if (reply.status !== 200) throw new Error(reply.text);
    return String(reply.body['sm_session_id']);
  }

  /** Logs an address in; @returns the Cookie header. */
  async login(email: string): Promise<string> {
    const { logins, stores } = this.service;
    const { token } = await openLogin(logins, stores.logins, email, this.clock.now());
    return `tenant_session=${token}`;
  }

  /** Logs an address in; @returns the headers of its requests from the console's page. */
  async as(email: string): Promise<Record<string, string>> {
    return { cookie: await this.login(email), origin: CONSOLE };
  }

  sweep(): Promise<number> {
    return closeDue(this.clock.now(), 500, 5000, this.sessions.recovery);
  }

  /** Writes everything that the history writer has buffered. */
  flush(): Promise<void> {
    return this.sessions.recovery.writer.flush();
  }

  async close(): Promise<void> {
    this.service.bots.close();
    this.service.logins.close();
    await this.service.directory.stop();
  }
}

/** The tenants of the tests: `acme` admits every console user, `globex` only one. */
export async function seedTenants(app: TestApp): Promise<void> {
  const agents = [
    {
      id: 'support',
      model: 'gpt-realtime-2.1',
      voice: 'marin',
      instructions: 'Help the caller.',
      tools: [
        { kind: 'http_tool', name: 'find_order', description: 'Finds an order', url: 'https://acme.example/hook' },
      ],
    },
    { id: 'sales', model: 'gpt-realtime-mini' },
  ];
  await app.service.stores.tenants.merge([
    { id: 'acme', name: 'Acme', agents, admins: null, keys: [] },
    { id: 'globex', name: 'Globex', agents: [], admins: ['boss@globex.example'], keys: [] },
  ]);
  await app.service.directory.reload();
}

let requests = 0;

function toHttp(
  { method = 'GET', path, body, headers = {}, duplicates = [], peer, signal }: Request,
  atMs: number,
  { requestPrefix }: NodeIdentity,
): HttpRequest {
  const [bare = '', query = ''] = path.split('?', 2);
  requests += 1;
  return {
    method,
    path: bare,
    query,
    headers: { ...(method !== 'GET' ? { 'content-type': 'application/json' } : {}), ...headers },
    duplicates,
    peer: peer ?? '198.51.100.7',
    requestId: `req_${requestPrefix}${requests.toString(36)}`,
    atMs,
    body: toBytes(body),
    signal: () => signal ?? new AbortController().signal,
  };
}

function toBytes(body: unknown): Buffer | 'too_large' {
  if (body === undefined) return Buffer.alloc(0);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return bytes.length > 65_536 ? 'too_large' : bytes;
}

async function toReply({ status, shared, lines = '', headers: own, body, parts }: HttpReply): Promise<Reply> {
  const written = [...lines.matchAll(/\r\n([^:\r\n]+): ([^\r\n]*)/g)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  const all = [...(shared?.headers ?? []), ...written, ...own];
  const isCookie = ([name]: readonly [string, string]): boolean => name.toLowerCase() === 'set-cookie';
  const cookies = all.filter(isCookie).map(([, value]) => value);
  // Only cookies may come several times, each in a header of its own; the first one is the login's.
  const headers = all.filter((header) => !isCookie(header) || header[1] === cookies[0]);
  let text = body.toString();
  if (parts !== undefined) for await (const part of parts) text += part;
  const byName = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  if (Object.keys(byName).length !== headers.length) throw new Error(`a header came twice: ${JSON.stringify(headers)}`);
  const isPlain = text !== '' && byName['content-encoding'] === undefined;
  const isJson = isPlain && byName['content-type']?.startsWith('application/json') === true;
  return { status, headers: byName, cookies, text, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} };
}
