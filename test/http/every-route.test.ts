import { beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../src/http/route.ts';
import { describedRoutes } from '../../src/http/routes/all.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';
import { describeRoute } from './describe-route.ts';
import { OperatorWorld, worldEnv } from './operator-world.ts';

/** What holds for every route in the table, including new ones: who may ask, what is refused, and what happens while a store is away. */

const { buildForFile, database } = useApps();

/** Routes without working deps: only handlers use deps, and these are never called. */
const all = describedRoutes();
const api = all.filter(({ path }) => path.startsWith('/api/'));
const requests = api.filter(({ kind }) => kind === 'request');
const operated = all.filter(({ access }) => access === 'operator');
const others = requests.filter(({ access }) => access !== 'operator');
const named = (routes: readonly Route[]) => routes.map((route) => [`${route.method} ${route.path}`, route] as const);

let world: OperatorWorld;
beforeAll(async () => {
  const app = await buildForFile({ env: worldEnv });
  world = await OperatorWorld.build(app, database());
});

describe('The operator API', () => {
  test('asks in each route for the right that docs/contract.md, section 8, gives it', () => {
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

  test('counts some routes for each operator by themselves', () => {
    const counted = operated.flatMap(({ method, path, perOperator }) =>
      perOperator === undefined ? [] : [`${perOperator.perMinute} ${perOperator.name}: ${method} ${path}`],
    );
    expect(counted.toSorted()).toMatchInlineSnapshot(`
      [
        "20 search: POST /api/operator/search",
        "20 what-if: POST /api/operator/what-if",
        "30 webhook replay: POST /api/operator/webhooks/{id}/replay",
        "30 webhook test: POST /api/operator/webhooks/{id}/test",
        "60 end: POST /api/operator/sessions/end",
        "60 export-sessions: GET /api/operator/export/sessions",
        "60 export-usage: GET /api/operator/export/usage",
      ]
    `);
  });

  test('shows operators and tokens whole ids and addresses where it hides them from others', async () => {
    const shown: string[] = [];
    for (const route of operated.filter(({ method, path }) => method === 'GET' && path.startsWith('/api/'))) {
      const query = route.path.endsWith('/changes') ? { query: 'since=2030-01-02T11:00:00Z' } : {};
      for (const role of ['operator', 'service'] as const) {
        const { text } = await world.send(route, world.headersOf[role], query);
        if (world.confidential.some((one) => text.includes(one))) shown.push(`${route.path} to ${role}`);
      }
    }
    expect(shown.toSorted()).toMatchInlineSnapshot(`
      [
        "/api/operator/audit to operator",
        "/api/operator/audit to service",
        "/api/operator/changes to operator",
        "/api/operator/changes to service",
        "/api/operator/logins to operator",
        "/api/operator/logins to service",
        "/api/operator/logins/{id} to operator",
        "/api/operator/logins/{id} to service",
        "/api/operator/me to operator",
        "/api/operator/secrets to operator",
        "/api/operator/secrets to service",
        "/api/operator/sessions to operator",
        "/api/operator/sessions to service",
        "/api/operator/sessions/{id} to operator",
        "/api/operator/sessions/{id} to service",
        "/api/operator/settings to operator",
        "/api/operator/settings to service",
        "/api/operator/webhooks to operator",
        "/api/operator/webhooks to service",
        "/api/operator/webhooks/{id} to operator",
        "/api/operator/webhooks/{id} to service",
      ]
    `);
  });
});

// Those that change something come last, and before them those whose tests let time pass.
const order = ({ method, perOperator }: Route): number => (method === 'GET' ? (perOperator === undefined ? 0 : 1) : 2);
for (const route of operated.toSorted((a, b) => order(a) - order(b))) describeRoute(route, () => world);

describe('A request to a route that is not of the operator API', () => {
  const bodies = others.filter(({ body }) => body !== undefined);

  test.each(named(bodies))('%s whose body is no object of JSON is refused, and the reply says so', async (_, route) => {
    for (const body of ['{', '[]', '"text"', '12'])
      expect(errorOf(await world.send(route, world.headersOf.operator, { body }))).toEqual({
        status: 400,
        code: 'INVALID_REQUEST',
      });
  });

  test.each(named(others))('%s by another method is refused, with those that there are', async (_, route) => {
    const reply = await world.app.send({ method: 'PUT', path: world.pathOf(route), headers: world.headersOf.service });
    expect(errorOf(reply)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(reply.headers['allow']).toContain(route.method);
  });

  test.each(named(others.filter(({ access }) => access !== 'public')))('%s is kept by no cache', async (_, route) => {
    for (const headers of Object.values(world.headersOf))
      expect((await world.send(route, headers)).headers['cache-control']).toBe('no-store');
  });

  test.each(named(others))(
    '%s while the database is away is answered as described, and never as a defect',
    async (_, route) => {
      for (const headers of [world.headersOf.service, world.headersOf.operator])
        expect((await world.away(() => world.send(route, headers))).status).not.toBe(500);
      expect(world.app.faults.filter((fault) => !String(fault).includes('Unavailable'))).toEqual([]);
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
