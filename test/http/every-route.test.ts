import { beforeAll, describe, expect, test } from 'vitest';
import { mayDo, type OperatorRole } from '../../src/operators/roles.ts';
import type { Route } from '../../src/http/route.ts';
import { describedRoutes } from '../../src/http/routes/all.ts';
import { SERVICE_TOKEN, type Reply, type TestApp } from '../support/app.ts';
import { useApps } from '../support/use-apps.ts';
import { anEndpoint } from '../contracts/webhooks.ts';
import { errorOf } from './app.ts';
import { closedCall } from './calls.ts';
import { Conformance, type Document } from './conformance.ts';

/** What holds for every route in the table, including new ones: who may ask, what is refused, and what happens while a store is away. */

const { buildForFile, database } = useApps();

/** Routes without working deps: only handlers use deps, and these are never called. */
const all = describedRoutes();
const api = all.filter(({ path }) => path.startsWith('/api/'));
const requests = api.filter(({ kind }) => kind === 'request');
const operated = all.filter(({ access }) => access === 'operator');
const named = (routes: readonly Route[]) => routes.map((route) => [`${route.method} ${route.path}`, route] as const);

const emails = {
  operator: 'ops@example.com',
  viewer: 'vera@example.com',
  tenant_admin: 'boss@globex.example',
  nobody: 'ada@example.com',
} as const;
const socket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'switchboard.operator.v1',
};

let asked = 0;
let app: TestApp;
let conformance: Conformance;
/** Values for the parameters of paths, by name. */
const there: Record<string, string> = {};
const headersOf: Partial<Record<OperatorRole, Record<string, string>>> = {};

beforeAll(async () => {
  app = await buildForFile({ env: { OPERATOR_EMAILS: emails.operator, VIEWER_EMAILS: emails.viewer } });
  conformance = new Conformance((await app.get('/openapi.json')).body as unknown as Document);
  const key = await app.key();
  const id = await app.open(key);
  const call = closedCall(id);
  await app.service.stores.calls.insert(call, 3);
  for (const [role, email] of Object.entries(emails)) headersOf[role as OperatorRole] = await app.as(email);
  headersOf.service = { authorization: `Bearer ${SERVICE_TOKEN}` };
  await app.login('somebody@example.com');
  const logins = await app.get('/api/operator/logins', headersOf.service);
  const login = (logins.body['logins'] as readonly { readonly id: string; readonly email: string }[]).find(
    ({ email }) => email === 'somebody@example.com',
  );
  const { webhooks } = app.service.stores;
  const endpoint = anEndpoint({ tenantId: 'acme' });
  await webhooks.insert(endpoint, 10);
  Object.assign(there, {
    sessions: id.slice(0, 42),
    keys: key.id,
    logins: login?.id ?? '',
    call: call.id,
    challenges: 'none',
    webhooks: endpoint.id,
    event: await webhooks.tell(endpoint.id, 'webhook.test', {}, app.clock.now()),
    budgets: 'march',
    views: 'view_nobody',
  });
  const budget = {
    of: 'tenant',
    period: 'month',
    from: null,
    microDollars: 1e9,
    tokens: null,
    microMinutes: null,
    warnAt: [],
    tell: null,
  } as const;
  const made = { tenantId: 'acme', id: 'march', madeBy: 'operator', changedAtMs: 0, atLimit: 'end' } as const;
  await app.service.stores.budgets.insert({ ...budget, ...made }, 50);
});

/** The route's path, naming things that exist. */
function pathOf({ method, path }: Route): string {
  const [, room = ''] = /^\/api\/(?:operator|auth)\/(\w+)/.exec(path) ?? [];
  return (
    path
      .replace(/\{(?:call|ref)\}/, there['call'] ?? '')
      .replace('{event}', there['event'] ?? '')
      // The webhook must still exist for the tests that follow.
      .replace('{id}', room === 'webhooks' && method === 'DELETE' ? 'wh_nobody' : encodeURIComponent(there[room] ?? ''))
  );
}

/** The query that names the tenant, for what has a name only within its tenant. */
function scopeOf({ path }: Route): string {
  return path.includes('/budgets/') ? 'tenantId=acme' : '';
}

/** Sends each request from an address of its own; by default with the body that the documentation shows. */
async function send(
  route: Route,
  headers: Record<string, string>,
  body: unknown = route.bodyExample,
  query = scopeOf(route),
): Promise<Reply> {
  asked += 1;
  const request = {
    peer: `198.51.${100 + (asked >> 8)}.${asked & 255}`,
    method: route.method,
    path: pathOf(route) + (query === '' ? '' : `?${query}`),
    headers: { ...headers, ...(route.kind === 'socket' ? socket : {}) },
    ...(['POST', 'PATCH'].includes(route.method) ? { body: body ?? {} } : {}),
  };
  const reply = await app.send(request);
  conformance.check(request, reply);
  expect(conformance.faults).toEqual([]);
  return reply;
}

describe('A route of the operator API', () => {
  test('asks for the right that docs/contract.md, section 8, gives it', () => {
    const rights = operated.map(({ method, path, right }) => `${right}: ${method} ${path}`);
    expect(rights.toSorted()).toMatchInlineSnapshot(`
      [
        "change-installation: POST /api/operator/addresses/lift",
        "change-installation: POST /api/operator/logins/{id}/revoke",
        "change: DELETE /api/operator/budgets/{id}",
        "change: DELETE /api/operator/webhooks/{id}",
        "change: PATCH /api/operator/budgets/{id}",
        "change: PATCH /api/operator/webhooks/{id}",
        "change: POST /api/operator/budgets",
        "change: POST /api/operator/keys",
        "change: POST /api/operator/keys/{id}/pause",
        "change: POST /api/operator/keys/{id}/resume",
        "change: POST /api/operator/keys/{id}/revoke",
        "change: POST /api/operator/resume",
        "change: POST /api/operator/secrets",
        "change: POST /api/operator/secrets/signing",
        "change: POST /api/operator/secrets/{name}/delete",
        "change: POST /api/operator/sessions/end",
        "change: POST /api/operator/sessions/{id}/end",
        "change: POST /api/operator/sessions/{id}/whisper",
        "change: POST /api/operator/stop",
        "change: POST /api/operator/webhooks",
        "change: POST /api/operator/webhooks/{id}/deliveries/{event}/replay",
        "change: POST /api/operator/webhooks/{id}/disable",
        "change: POST /api/operator/webhooks/{id}/enable",
        "change: POST /api/operator/webhooks/{id}/replay",
        "change: POST /api/operator/webhooks/{id}/rotate",
        "change: POST /api/operator/webhooks/{id}/test",
        "see-installation: GET /api/operator/challenges",
        "see-installation: GET /api/operator/challenges/{id}",
        "see-installation: GET /api/operator/logins",
        "see-installation: GET /api/operator/logins/{id}",
        "see-installation: GET /api/operator/nodes",
        "see-installation: GET /api/operator/reconciliation",
        "see-installation: GET /api/operator/settings",
        "see-installation: GET /metrics",
        "see: DELETE /api/operator/views/{id}",
        "see: GET /api/operator/activity",
        "see: GET /api/operator/audit",
        "see: GET /api/operator/budgets",
        "see: GET /api/operator/calls",
        "see: GET /api/operator/calls/{ref}",
        "see: GET /api/operator/changes",
        "see: GET /api/operator/export/sessions",
        "see: GET /api/operator/export/usage",
        "see: GET /api/operator/keys",
        "see: GET /api/operator/machines",
        "see: GET /api/operator/me",
        "see: GET /api/operator/overview",
        "see: GET /api/operator/refusals",
        "see: GET /api/operator/secrets",
        "see: GET /api/operator/sessions",
        "see: GET /api/operator/sessions/{id}",
        "see: GET /api/operator/sessions/{id}/calls/{call}",
        "see: GET /api/operator/sessions/{id}/events",
        "see: GET /api/operator/sessions/{id}/webhooks",
        "see: GET /api/operator/stop",
        "see: GET /api/operator/usage",
        "see: GET /api/operator/views",
        "see: GET /api/operator/webhooks",
        "see: GET /api/operator/webhooks/{id}",
        "see: GET /api/operator/webhooks/{id}/deliveries",
        "see: GET /api/operator/webhooks/{id}/deliveries/{event}",
        "see: POST /api/operator/search",
        "see: POST /api/operator/views",
        "see: POST /api/operator/what-if",
      ]
    `);
  });

  test.each(named(operated))('%s is closed to whoever proves nothing, or the wrong thing', async (_, route) => {
    const proofs: Record<string, string>[] = [
      {},
      { authorization: 'Bearer wrong' },
      { cookie: 'tenant_session=wrong' },
    ];
    for (const headers of proofs)
      expect(errorOf(await send(route, headers))).toEqual({ status: 401, code: 'AUTH_REQUIRED' });
  });

  test.each(named(operated))(
    '%s is open to the roles that have its right, and refused to all others',
    async (_, route) => {
      for (const [role, headers] of Object.entries(headersOf) as [OperatorRole, Record<string, string>][]) {
        const { status, body } = await send(route, headers);
        const isRefused = status === 401 || (status === 403 && body['code'] === 'FORBIDDEN');
        expect([role, isRefused]).toEqual([role, !mayDo(role, route.right)]);
      }
    },
  );
});

describe('A query of the operator API', () => {
  const routes = requests.filter(({ access }) => access === 'operator');
  const ask = (route: Route, query: string): Promise<Reply> => send(route, headersOf.service ?? {}, undefined, query);
  /** Invalid values for certain fields, besides the values that no field may have. */
  const wrong: Readonly<Record<string, readonly string[]>> = {
    limit: ['0', '201', 'x', '1.5'],
    cursor: ['x', 'WyJhIl0'],
    from: ['yesterday'],
    to: ['yesterday'],
    since: ['yesterday', '2100-01-01T00:00:00Z'],
  };
  const fields = routes.flatMap((route) =>
    Object.keys(route.query?.shape ?? {}).map(
      (name) => [`${route.method} ${route.path} ${name}`, route, name] as const,
    ),
  );

  test.each(named(routes))('%s ignores no field that it does not know, and names it', async (_, route) => {
    for (const name of ['unknownField', '__proto__']) {
      const reply = await ask(route, `${name}=x`);
      expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      expect(reply.body['details']).toMatchObject([{ path: name }]);
    }
  });

  test.each(fields)('%s is refused where it is wrong or comes twice, and named', async (_, route, name) => {
    // An empty request id is not invalid: it is simply unknown.
    const values = [...(name === 'requestId' ? [] : ['']), '%00', ...(wrong[name] ?? [])];
    for (const value of [...values.map((one) => `${name}=${one}`), `${name}=5&${name}=6`]) {
      const reply = await ask(route, value);
      expect([value, errorOf(reply)]).toEqual([value, { status: 400, code: 'INVALID_REQUEST' }]);
      expect(reply.body['details']).toMatchObject([{ path: name }]);
    }
  });
});

test.each(
  named(
    operated.filter(
      ({ path, right }) => path.includes('{') && !path.includes('/views/') && ['see', 'change'].includes(right),
    ),
  ),
)('%s is not there for the admin of another tenant', async (_, route) => {
  const code = route.path.includes('/sessions/') ? 'SESSION_NOT_FOUND' : 'NOT_FOUND';
  expect(errorOf(await send(route, headersOf.tenant_admin ?? {}))).toEqual({ status: 404, code });
  expect((await send(route, headersOf.viewer ?? {})).status).not.toBe(404);
});

describe('A request to a route', () => {
  test.each(named(operated.filter(({ body }) => body !== undefined)))(
    '%s with a field that it does not know is refused, and the field is named',
    async (_, route) => {
      const example = route.bodyExample ?? {};
      const reply = await send(route, headersOf.service ?? {}, { ...example, unknownField: 1 });
      expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      expect(reply.text).toContain('unknownField');
    },
  );

  test.each(named(requests.filter(({ body }) => body !== undefined)))(
    '%s whose body is no object of JSON is refused, and the reply says so',
    async (_, route) => {
      for (const body of ['{', '[]', '"text"', '12'])
        expect(errorOf(await send(route, headersOf.operator ?? {}, body))).toEqual({
          status: 400,
          code: 'INVALID_REQUEST',
        });
    },
  );

  test.each(named(requests))('%s by another method is refused, with those that there are', async (_, route) => {
    const path = pathOf(route);
    const reply = await app.send({ method: 'PUT', path, headers: headersOf.service ?? {} });
    expect(errorOf(reply)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(reply.headers['allow']).toContain(route.method);
  });

  test.each(named(requests.filter(({ access }) => access !== 'public')))('%s is kept by no cache', async (_, route) => {
    for (const headers of Object.values(headersOf))
      expect((await send(route, headers)).headers['cache-control']).toBe('no-store');
  });

  test.each(named(requests))(
    '%s while the database is away is answered as described, and never as a defect',
    async (_, route) => {
      database().isAway = true;
      try {
        for (const headers of [headersOf.service ?? {}, headersOf.operator ?? {}]) {
          const { status } = await send(route, headers);
          expect(status).not.toBe(500);
        }
      } finally {
        database().isAway = false;
      }
      expect(app.faults.filter((fault) => !String(fault).includes('Unavailable'))).toEqual([]);
    },
  );
});

describe('The example of a reply', () => {
  const examples = api.flatMap((route) =>
    Object.entries(route.replies).flatMap(([status, { schema, example }]) =>
      schema === undefined || example === undefined
        ? []
        : [[`${route.method} ${route.path} ${status}`, schema, example] as const],
    ),
  );

  test.each(examples)('of %s is one that its schema takes as it is', (_, schema, example) => {
    expect(schema.parse(example)).toEqual(example);
  });

  test('is there for every reply that has a schema', () => {
    const without = api.flatMap((route) =>
      Object.entries(route.replies).flatMap(([status, { schema, example }]) =>
        schema !== undefined && example === undefined ? [`${route.method} ${route.path} ${status}`] : [],
      ),
    );
    expect(without).toEqual([]);
  });
});
