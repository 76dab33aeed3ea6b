import { expect } from 'vitest';
import { mayDo, type OperatorRole } from '../../src/operators/roles.ts';
import type { Route } from '../../src/http/route.ts';
import type { TestDatabase } from '../support/test-database.ts';
import { SERVICE_TOKEN, type Reply, type TestApp } from '../support/app.ts';
import { MINUTE } from '../support/clock.ts';
import { anEndpoint } from '../contracts/webhooks.ts';
import { closedCall } from './calls.ts';
import { Conformance, type Document } from './conformance.ts';

type Headers = Readonly<Record<string, string>>;

const emails = {
  operator: 'ops@example.com',
  viewer: 'vera@example.com',
  tenant_admin: 'boss@globex.example',
  nobody: 'ada@example.com',
} as const;

/** Settings of the service on which a world is built. Sessions reach their maximum duration before they go idle. */
export const worldEnv = {
  OPERATOR_EMAILS: emails.operator,
  VIEWER_EMAILS: emails.viewer,
  MAX_SESSION_MINUTES: '4',
  RATE_OPERATOR_PER_MIN: '100000',
};

const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'switchboard.operator.v1',
};

const budget = {
  of: 'tenant',
  period: 'month',
  from: null,
  microDollars: 1e9,
  tokens: null,
  microMinutes: null,
  warnAt: [],
  madeBy: 'operator',
  changedAtMs: 0,
  atLimit: 'end',
} as const;

async function logInAll(app: TestApp): Promise<Record<OperatorRole, Headers>> {
  return {
    service: { authorization: `Bearer ${SERVICE_TOKEN}` },
    operator: await app.as(emails.operator),
    viewer: await app.as(emails.viewer),
    tenant_admin: await app.as(emails.tenant_admin),
    nobody: await app.as(emails.nobody),
  };
}

/** What can be asked of a route besides what its documentation shows. */
export interface OperatorRequest {
  /** By default the body that the documentation shows. */
  readonly body?: unknown;
  readonly query?: string;
  /** By default names things that exist, of the tenant acme. */
  readonly path?: string;
}

/**
 * Callers of every role, and something for every route to show: of the tenant acme, which its callers may not all see, and of globex, whose
 * admin asks. There are at least two rows for each list.
 */
export class OperatorWorld {
  readonly app: TestApp;
  readonly headersOf: Record<OperatorRole, Headers>;
  /** Whole session ids, which prove their sessions, and what else only operators and tokens may see. */
  readonly confidential: readonly string[];
  /** The name of this process. */
  readonly node: string;
  readonly #database: TestDatabase;
  readonly #conformance: Conformance;
  /** Values for the parameters of paths, by the name of what they are in. */
  readonly #there: Readonly<Record<string, string>>;
  /** Those where an operator has ended the session. */
  readonly #ended: Readonly<Record<string, string>>;
  #asked = 0;
  /** What `unchanged` has read last, and the id of the transaction that would have written next then. */
  #read: { readonly nextWrite: string; readonly sums: Readonly<Record<string, string>> } = { nextWrite: '', sums: {} };

  private constructor(
    parts: Pick<OperatorWorld, 'app' | 'headersOf' | 'confidential' | 'node'>,
    database: TestDatabase,
    conformance: Conformance,
    there: Readonly<Record<string, string>>,
    ended: Readonly<Record<string, string>>,
  ) {
    ({ app: this.app, headersOf: this.headersOf, confidential: this.confidential, node: this.node } = parts);
    this.#database = database;
    this.#conformance = conformance;
    this.#there = there;
    this.#ended = ended;
  }

  /** @param app a service with `worldEnv` */
  static async build(app: TestApp, database: TestDatabase): Promise<OperatorWorld> {
    const { stores } = app.service;
    const headersOf = await logInAll(app);
    const keys = { acme: await app.key(), globex: await app.key({ tenantId: 'globex' }) };
    const [id, globexs, ended] = [
      await app.open(keys.acme, { email: 'visitor@example.com' }),
      await app.open(keys.globex, { email: 'visitor@example.com' }),
      [await app.open(keys.acme), await app.open(keys.acme), await app.open(keys.globex), await app.open(keys.globex)],
    ] as const;
    for (const [n, one] of [id, globexs, ...ended].entries()) {
      const used = { sm_session_id: one, tokens: 10 + n, dollars: 0.5 + n };
      expect((await app.post('/api/auth/usage', used, headersOf.service)).status).toBe(200);
      const call = { ...closedCall(one), id: `call_${n + 1}`, tenantId: [1, 4, 5].includes(n) ? 'globex' : 'acme' };
      await stores.calls.insert(call, 3);
    }
    for (const one of ended) {
      const reply = await app.post(`/api/operator/sessions/${one.slice(0, 42)}/end`, {}, headersOf.operator);
      expect(reply.status).toBe(200);
    }
    for (const key of [keys.acme, keys.globex])
      for (let n = 0; n < 2; n += 1)
        expect((await app.create(key, {}, { origin: 'https://evil.example' })).status).toBe(403);
    for (const email of ['somebody@example.com', 'another@example.com']) {
      await app.login(email);
      await app.post('/api/auth/otp/send', { email });
    }
    await app.service.codes.settled();
    const logins = await app.get('/api/operator/logins', headersOf.service);
    const login = (logins.body['logins'] as { id: string; email: string }[]).find(
      ({ email }) => email === 'somebody@example.com',
    );
    const endpoints = ['acme', 'globex'].map((tenantId) =>
      anEndpoint({ tenantId, url: `https://hooks.${tenantId}.example/hidden-path` }),
    );
    const [endpoint = anEndpoint()] = endpoints;
    for (const one of endpoints) await stores.webhooks.insert(one, 10);
    const tell = () => stores.webhooks.tell(endpoint.id, 'webhook.test', {}, app.clock.now());
    await tell();
    const event = await tell();
    for (const tenantId of ['acme', 'globex']) {
      const own = { ...budget, tenantId, tell: null };
      for (const name of ['march', 'april']) await stores.budgets.insert({ ...own, id: name }, 50);
      const secret = { tenantId, name: 'crm', value: 'a-value-that-nobody-is-told' };
      expect((await app.post('/api/operator/secrets', secret, headersOf.operator)).status).toBe(201);
      const view = { tenantId, name: `of ${tenantId}`, href: '/console/sessions?state=stale' };
      expect((await app.post('/api/operator/views', view, headersOf.operator)).status).toBe(201);
    }
    await app.service.presence.write();
    await app.service.presence.beat();
    await app.flush();
    await app.service.journalWriter.flush();
    await app.service.activityWriter.flush();
    const nodes = (await app.get('/api/operator/nodes', headersOf.service)).body['nodes'] as { id: string }[];
    const confidential = [id, globexs, ...ended, emails.operator, 'visitor@example.com', 'somebody@example.com'];
    return new OperatorWorld(
      {
        app,
        headersOf,
        confidential: [...confidential, 'hidden-path', 'a-value-that-nobody-is-told'],
        node: nodes[0]?.id ?? '',
      },
      database,
      new Conformance((await app.get('/openapi.json')).body as unknown as Document),
      {
        sessions: id.slice(0, 42),
        keys: keys.acme.id,
        logins: login?.id ?? '',
        calls: 'call_1',
        challenges: 'none',
        webhooks: endpoint.id,
        event: event ?? '',
        budgets: 'march',
        views: 'view_nobody',
        secrets: 'crm',
      },
      { sessions: ended[0]?.slice(0, 42) ?? '', calls: 'call_3' },
    );
  }

  /** Lets a minute pass, so that what was counted by the minute is forgotten. Everybody logs in again, before their logins are renewed. */
  async passMinute(): Promise<void> {
    this.app.clock.advance(MINUTE);
    Object.assign(this.headersOf, await logInAll(this.app));
  }

  /** The roles that may ask a route for something. */
  rolesOf({ right }: Route): readonly OperatorRole[] {
    return (Object.keys(this.headersOf) as OperatorRole[]).filter((role) => mayDo(role, right));
  }

  /** The route's path, naming things that exist. */
  pathOf({ method, path }: Route): string {
    const [, room = ''] = /^\/api\/(?:operator|auth)\/(\w+)/.exec(path) ?? [];
    const isRead = method === 'GET' && room === 'sessions';
    const there = isRead ? { ...this.#there, ...this.#ended } : this.#there;
    return (
      path
        .replace(/\{(?:call|ref)\}/, there['calls'] ?? '')
        .replace('{event}', there['event'] ?? '')
        .replace('{name}', there['secrets'] ?? '')
        // The webhook must still exist for the tests that follow.
        .replace(
          '{id}',
          room === 'webhooks' && method === 'DELETE' ? 'wh_nobody' : encodeURIComponent(there[room] ?? ''),
        )
    );
  }

  /**
   * Sends a request from an address of its own, and checks that its reply is one that the interface description contains.
   * @param asked.query by default what names the tenant, for what has a name only within its tenant
   */
  async send(
    route: Route,
    headers: Headers,
    { body = route.bodyExample, query, path }: OperatorRequest = {},
  ): Promise<Reply> {
    this.#asked += 1;
    const scope = query ?? (route.path.includes('/budgets/') ? 'tenantId=acme' : '');
    const request = {
      peer: `198.${51 + (this.#asked >> 16)}.${(this.#asked >> 8) & 255}.${this.#asked & 255}`,
      method: route.method,
      path: (path ?? this.pathOf(route)) + (scope === '' ? '' : `?${scope}`),
      headers: { ...headers, ...(route.kind === 'socket' ? upgrade : {}) },
      ...(['POST', 'PATCH'].includes(route.method) ? { body: body ?? {} } : {}),
    };
    const reply = await this.app.send(request);
    this.#conformance.check(request, reply);
    expect(this.#conformance.faults.splice(0)).toEqual([]);
    return reply;
  }

  /** Runs while the database is away. */
  async away<T>(work: () => Promise<T>): Promise<T> {
    this.#database.isAway = true;
    try {
      return await work();
    } finally {
      this.#database.isAway = false;
    }
  }

  /** Expects that the database has the same rows afterwards, but for logs of requests. @param but a table that may change */
  async unchanged<T>(work: () => Promise<T>, but = ''): Promise<T> {
    const before = await this.#contents(but);
    const result = await work();
    expect(await this.#contents(but)).toEqual(before);
    return result;
  }

  /** The number of rows of each table, and a sum over them: read again only after a transaction that wrote something. */
  async #contents(but: string): Promise<object> {
    const [snapshot] = await this.#database.run(
      (sql) => sql<{ nextWrite: string }[]>`select pg_snapshot_xmax(pg_current_snapshot())::text as "nextWrite"`,
    );
    const nextWrite = snapshot?.nextWrite ?? '';
    if (this.#read.nextWrite !== nextWrite) this.#read = { nextWrite, sums: await this.#sums() };
    return Object.fromEntries(Object.entries(this.#read.sums).filter(([name]) => name !== but));
  }

  async #sums(): Promise<Readonly<Record<string, string>>> {
    const tables = await this.#database.run(
      (sql) => sql<{ name: string }[]>`
        select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    );
    const sums = tables.map(({ name }) => {
      const rows = name === 'journal' ? `journal where kind <> 'refusal'` : name;
      return `select '${name}' as name, count(*) || ' ' || coalesce(sum(hashtext(t::text)), 0) as sum from (select * from ${rows}) t`;
    });
    const found = await this.#database.run((sql) =>
      sql.unsafe<{ name: string; sum: string }[]>(sums.join(' union all ')),
    );
    return Object.fromEntries(found.map(({ name, sum }) => [name, sum]));
  }
}
