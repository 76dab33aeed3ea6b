import { afterEach, describe, expect, test } from 'vitest';
import { service, somebody, STAFF, type Reply } from '../support/app.ts';
import { DAY, NOON } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf, whyRefused } from './app.ts';

const { database } = useApp({ env: STAFF });

// Other tests share the database.
afterEach(async () => {
  const { budgets } = app.service.stores;
  for (const { tenantId, id } of await budgets.all()) await budgets.delete(tenantId, id);
  for (const table of ['budget_state', 'usage_total', 'usage_hour', 'usage_entry'])
    await database().run((sql) => sql`delete from ${sql(table)}`);
  await database().run((sql) => sql`delete from journal where kind = 'fact'`);
});

type Headers = Record<string, string>;
type BudgetRow = Record<string, unknown> & { readonly version: number };

const make = (body: object, headers: Headers = service): Promise<Reply> =>
  app.post('/api/operator/budgets', { tenantId: 'acme', id: 'march', of: 'tenant', period: 'month', ...body }, headers);
const change = (body: object, query = '?tenantId=acme', headers: Headers = service, id = 'march'): Promise<Reply> =>
  app.send({ method: 'PATCH', path: `/api/operator/budgets/${id}${query}`, body, headers });
const remove = (query = '?tenantId=acme', headers: Headers = service, id = 'march'): Promise<Reply> =>
  app.send({ method: 'DELETE', path: `/api/operator/budgets/${id}${query}`, headers });
const look = async (query = '', headers: Headers = service) => {
  const { status, body } = await app.get(`/api/operator/budgets${query}`, headers);
  expect(status).toBe(200);
  return body as { readonly budgets: BudgetRow[]; readonly facts: Record<string, unknown>[] };
};
const report = (id: string, dollars: number, tokens = 0): Promise<Reply> =>
  app.post('/api/auth/usage', { sm_session_id: id, tokens, dollars }, service);
const endOf = async (id: string) => (await app.sessions.find(id))?.endReason;

describe('A budget', () => {
  test('for a tenant’s month warns, ends open sessions once it is used up, and refuses new ones until it is raised', async () => {
    const made = await make({ dollars: 10, warnAt: [50, 80] });
    expect(made).toMatchObject({
      status: 201,
      body: { budget: { version: 1, madeBy: 'service', periodName: '2030-01' } },
    });
    const key = await app.key();
    const [id, other] = [await app.open(key, { email: somebody() }), await app.open(key)];
    expect((await report(id, 4)).status).toBe(200);
    expect((await report(id, 3)).status).toBe(200);
    expect((await look()).budgets).toMatchObject([
      { used: { dollars: 7 }, percent: 70, told: [{ percent: 50, exceededAt: null }] },
    ]);
    const over = await report(id, 3);
    const budget = { id: 'march', of: 'tenant', period: 'month', resetAt: '2030-02-01T00:00:00.000Z' };
    expect(over).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED', counted: true, budget } });
    for (const one of [id, other]) expect(await endOf(one)).toBe('quota_exceeded');
    const refused = await app.create(key, { email: somebody() });
    const userMessage = "This month's limit is reached. Please come back next month.";
    expect(refused).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED', budget, userMessage } });
    expect(await whyRefused(app, refused)).toBe('$10.00 of the budget’s $10.00 were used (budget march).');
    const { facts } = await look();
    expect(facts.slice(0, 2)).toMatchObject([
      { code: 'budget.exceeded', tenantId: 'acme', id: 'march', percent: 100, used: { dollars: 10 } },
      { code: 'budget.warned', percent: 50, account: 'tenant:acme' },
    ]);

    expect(await change({ version: 1, dollars: 20 })).toMatchObject({
      status: 200,
      body: { budget: { version: 2, percent: 50 } },
    });
    await expect.poll(async () => (await look()).facts[0]).toMatchObject({ code: 'budget.raised', percent: 50 });
    expect((await app.create(key, { email: somebody() })).status).toBe(200);
    app.clock.set(NOON + 40 * DAY);
    expect((await look()).budgets).toMatchObject([
      { periodName: '2030-02', used: { dollars: 0 }, percent: 0, told: [] },
    ]);
  });

  test('of a visitor may be made by address, counts for that visitor alone, and keeps no address', async () => {
    const key = await app.key();
    const email = somebody();
    const made = await make({ of: `user:${email.toUpperCase()}`, dollars: 1 });
    const { of } = made.body['budget'] as { of: string };
    expect([made.status, of]).toEqual([201, expect.stringMatching(/^user:[0-9a-f]{32}$/)]);
    await report(await app.open(key, { email }), 1);
    expect(await app.create(key, { email })).toMatchObject({ status: 429, body: { budget: { id: 'march', of } } });
    expect((await app.create(key, { email: somebody() })).status).toBe(200);
    const stored = await database().run((sql) => sql`select to_json(budget)::text as row from budget`);
    expect(JSON.stringify(stored)).not.toContain('@example.com');
    // Naming somebody by address tells whose sessions are theirs, so the audit finds it as it finds searches.
    const asked = `/api/operator/audit?target=${app.service.subjects.console(email)}`;
    const { rows } = (await app.get(asked, service)).body;
    expect(rows).toMatchObject([{ action: 'search.address', role: 'service', result: 'done' }]);
  });

  test('of a visitor named by address is made by operators alone, as admins must not find out whose sessions are whose', async () => {
    const boss = await app.as('boss@globex.example');
    const wanted = { tenantId: 'globex', dollars: 1 };
    const refused = await make({ ...wanted, of: `user:${somebody()}` }, boss);
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(await make({ ...wanted, of: `user:${'a'.repeat(32)}` }, boss)).toMatchObject({ status: 201 });
  });

  test('counts usage of its period from before it was created, and acts on it at once', async () => {
    const key = await app.key();
    const id = await app.open(key);
    await report(id, 3);
    expect((await make({ of: `key:${key.id}`, period: 'week', dollars: 2 })).status).toBe(201);
    await expect.poll(() => endOf(id)).toBe('quota_exceeded');
    expect((await look()).budgets).toMatchObject([{ of: `key:${key.id}`, used: { dollars: 3 }, percent: 150 }]);
    expect((await look()).facts).toMatchObject([{ code: 'budget.exceeded', account: `key:acme:${key.id}` }]);
  });

  test('for an agent or the installation limits what it counts and nothing else', async () => {
    await make({ of: 'agent:support', dollars: 1, period: 'day' });
    const key = await app.key();
    const [support, sales] = [await app.open(key, { agentId: 'support' }), await app.open(key, { agentId: 'sales' })];
    expect((await report(sales, 3)).status).toBe(200);
    expect((await report(support, 1)).status).toBe(429);
    expect([await endOf(support), await endOf(sales)]).toEqual(['quota_exceeded', null]);
    expect((await app.create(key, { agentId: 'support' })).status).toBe(429);
    expect((await app.create(key, { agentId: 'sales' })).status).toBe(200);
    const all = { tenantId: undefined, id: 'all', of: 'installation', period: 'once', from: '2030-01-02', tokens: 10 };
    expect((await make(all)).body['budget']).toMatchObject({ tenantId: null, resetAt: null, firstDay: '2030-01-02' });
    expect((await report(sales, 0, 10)).status).toBe(429);
    expect(await endOf(sales)).toBe('quota_exceeded');
  });

  test('that is used up, or soon will be, appears in the overview, and its share in a metric until it is deleted', async () => {
    await make({ dollars: 10 });
    const id = await app.open(await app.key());
    const seen = async () => {
      const { body } = await app.get('/api/operator/overview', service);
      return (body['spend'] as { readonly budgets: object[] }).budgets;
    };
    const metric = async () => {
      await app.service.budgetLimits.lookAtAll(app.clock.now());
      return /^switchboard_budget_used_ratio.*$/m.exec((await app.get('/metrics', service)).text)?.[0];
    };
    expect(await seen()).toEqual([]);
    await report(id, 8);
    app.clock.advance(3000);
    expect(await seen()).toMatchObject([{ tenantId: 'acme', id: 'march', percent: 80, at: expect.any(String) }]);
    expect(await metric()).toBe('switchboard_budget_used_ratio{tenant="acme",budget="march"} 0.8');
    await report(id, 4);
    app.clock.advance(3000);
    expect(await seen()).toEqual([{ tenantId: 'acme', id: 'march', percent: 120, at: null }]);
    await remove();
    expect(await metric()).toBeUndefined();
  });

  test('that only refuses lets live sessions go on, and one that only warns refuses nothing', async () => {
    await make({ then: 'refuse', dollars: 1 });
    const key = await app.key();
    const id = await app.open(key);
    expect((await report(id, 2)).status).toBe(200);
    expect(await endOf(id)).toBeNull();
    expect((await app.create(key)).status).toBe(429);
    await change({ version: 1, then: 'tell' });
    expect((await app.create(key)).status).toBe(200);
    expect((await look()).facts[0]).toMatchObject({ code: 'budget.exceeded' });
  });

  test('adds no query to an entry if there is none, or if it is for users and keys', async () => {
    const { budgetUse, budgetStates } = app.service.stores;
    const asked: string[] = [];
    for (const store of [budgetUse, budgetStates])
      for (const [name, work] of Object.entries(store))
        Object.assign(store, {
          [name]: (...given: never[]) => (asked.push(name), (work as (...all: never[]) => unknown)(...given)),
        });
    const key = await app.key();
    const id = await app.open(key);
    await report(id, 1);
    expect(asked).toEqual([]);
    // With budgets of users and keys, the entry itself returns the day's total, and the totals of earlier days are cached for a minute.
    for (const [n, of] of ['user', `key:${key.id}`, 'user'].entries()) await make({ id: `b${n}`, of, dollars: 100 });
    await report(id, 1);
    asked.splice(0);
    await report(id, 1);
    expect(asked).toEqual([]);
  });

  test('does not end a login of the console, because others may have used it up', async () => {
    await make({ dollars: 1 });
    const cookie = await app.login('anna@example.com');
    await report(await app.open(await app.key()), 1);
    const headers = { cookie, origin: 'http://localhost:3000' };
    const refused = await app.post('/api/session', { tenantId: 'acme' }, headers);
    expect(errorOf(refused)).toEqual({ status: 429, code: 'DAILY_QUOTA_EXCEEDED' });
    expect((await app.get('/api/auth/session', headers)).status).toBe(200);
  });
});

describe('Budgets are changed', () => {
  test('only with the present version: of two changes at once one is refused, and nothing is lost', async () => {
    await make({ dollars: 10 });
    const both = await Promise.all([change({ version: 1, dollars: 20 }), change({ version: 1, dollars: 30 })]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(errorOf(await change({ version: 1, dollars: 40 }))).toEqual({ status: 409, code: 'CONFLICT' });
    expect((await change({ dollars: 40 })).status).toBe(400);
    const { body } = await app.get('/api/operator/audit?target=acme/march', service);
    expect((body['rows'] as object[]).length).toBeGreaterThanOrEqual(3);
    expect(await remove()).toMatchObject({ status: 200, body: { ok: true } });
    expect(errorOf(await remove())).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await look()).budgets).toEqual([]);
  });

  test('in whom they mail: some, nobody, or the default, and addresses are masked for those who may not change them', async () => {
    const seen = async (headers?: Headers) => (await look('', headers)).budgets[0];
    const tellOf = async () => (await seen())?.['tell'];
    await make({ dollars: 10, tell: ['Ann@example.com'] });
    expect(await tellOf()).toEqual(['ann@example.com']);
    expect(await seen(await app.as('vera@example.com'))).toMatchObject({ tell: ['a…@example.com'], mayChange: false });
    await change({ version: 1, dollars: 20 });
    expect(await tellOf()).toEqual(['ann@example.com']);
    await change({ version: 2, tell: [] });
    expect(await tellOf()).toEqual([]);
    await change({ version: 3, tell: null });
    expect(await tellOf()).toBeNull();
  });

  test('and minutes are set, changed and removed like dollars, as long as one limit remains', async () => {
    expect((await make({ minutes: 0.5 })).body).toMatchObject({
      budget: { minutes: 0.5, dollars: null, tokens: null },
    });
    expect(errorOf(await change({ version: 1, minutes: null }))).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    const both = await change({ version: 1, minutes: 90.000001, tokens: 9 });
    expect(both.body).toMatchObject({ budget: { minutes: 90.000001, tokens: 9, used: { minutes: 0 } } });
    const { body } = await change({ version: 2, minutes: null });
    expect(body).toMatchObject({ budget: { minutes: null, tokens: 9, used: { tokens: 0, dollars: 0 } } });
    expect(JSON.stringify(body)).not.toContain('"minutes":0');
  });

  test('and created, each id once and at most fifty', async () => {
    const both = await Promise.all([make({ dollars: 1 }), make({ dollars: 2 })]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    for (let n = 1; n < 50; n += 1) await make({ id: `b${n}`, dollars: 1 });
    expect(errorOf(await make({ id: 'b50', dollars: 1 }))).toEqual({ status: 409, code: 'CONFLICT' });
    expect((await make({ id: 'b50', dollars: 1, tenantId: 'globex' })).status).toBe(201);
  });
});

describe('Who may change budgets', () => {
  test('an admin changes those that the tenant’s admins created, and neither an operator’s nor the installation’s', async () => {
    const boss = await app.as('boss@globex.example');
    const globex = { tenantId: 'globex', dollars: 5 };
    await make({ ...globex, id: 'of-operator' });
    await make({ tenantId: undefined, id: 'all', of: 'installation', dollars: 1_000_000 });
    expect((await make({ ...globex, id: 'own' }, boss)).status).toBe(201);
    const raise = { version: 1, dollars: 50 };
    expect(errorOf(await change(raise, '?tenantId=globex', boss, 'of-operator'))).toEqual({
      status: 403,
      code: 'FORBIDDEN',
    });
    expect(errorOf(await remove('?tenantId=globex', boss, 'of-operator'))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await change(raise, '?tenantId=globex', boss, 'own')).status).toBe(200);
    expect(errorOf(await change(raise, '', boss, 'all'))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await look('', boss)).budgets).toMatchObject([
      { id: 'of-operator', mayChange: false },
      { id: 'own', mayChange: true, dollars: 50 },
    ]);
    // A budget that an operator has lowered belongs to operators from then on.
    expect((await change({ version: 2, dollars: 5 }, '?tenantId=globex', service, 'own')).status).toBe(200);
    const again = { version: 3, dollars: 50 };
    expect(errorOf(await change(again, '?tenantId=globex', boss, 'own'))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await make({ ...globex, id: 'other' }, boss)).status).toBe(201);
    expect((await remove('?tenantId=globex', boss, 'other')).status).toBe(200);
  });
});
