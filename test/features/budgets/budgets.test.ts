import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newEndpoint } from '../../../machines/webhook-endpoint/selectors.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { refOf } from '../../../src/kernel/ids.ts';
import { BudgetLimits } from '../../../src/budgets/budgets.ts';
import { percentOf } from '../../../src/budgets/used-share.ts';
import { createPeriods } from '../../../src/quota/calendar.ts';
import type { Budget, NewBudget } from '../../../src/stores/budgets/contract.ts';
import { sharedAccounts } from '../../../src/stores/ledger/contract.ts';
import { service, somebody, type Reply, type TestApp } from '../../support/app.ts';
import { HOUR, MINUTE, NOON, SECOND } from '../../support/clock.ts';
import { examples } from '../../support/examples.ts';
import { useApps } from '../../support/use-apps.ts';
import { BudgetOracle } from './budget-oracle.ts';
import { aBudget } from '../../contracts/budgets.ts';

const { build, database } = useApps();

let one: TestApp;
let other: TestApp;

/** Limits of a visitor that are too wide to matter here. */
const WIDE = {
  WIDGET_SESSION_PER_MIN: '100000',
  WIDGET_MAX_DOLLARS_DAILY: '100000',
  WIDGET_MAX_CONCURRENT_SESSIONS: '100000',
};

/** Two nodes with one database, one clock and one bus. */
async function buildBoth(env: Record<string, string> = {}): Promise<void> {
  const all = { ...WIDE, ...env };
  one = await build({ env: all });
  other = await build({ env: all, clock: one.clock, live: one.live });
}

beforeEach(() => buildBoth());

afterEach(clear);

async function clear(): Promise<void> {
  const { budgets } = one.service.stores;
  for (const { tenantId, id } of await budgets.all()) await budgets.delete(tenantId, id);
  for (const table of ['budget_state', 'usage_total', 'usage_hour', 'usage_entry'])
    await database().run((sql) => sql`delete from ${sql(table)}`);
  await database().run((sql) => sql`delete from journal where kind = 'fact'`);
}

/** Makes a budget and waits until both nodes know it. */
async function make(changes: Partial<NewBudget> = {}): Promise<void> {
  await one.service.stores.budgets.insert(aBudget({ tenantId: 'acme', id: 'b', changedAtMs: NOON, ...changes }), 50);
  for (const app of [one, other]) await app.service.directory.reload();
}

async function change(microDollars: number, version: number): Promise<void> {
  const found = (await one.service.stores.budgets.all()).find(({ id }) => id === 'b');
  if (found === undefined) throw new Error('there is no budget');
  expect(await one.service.stores.budgets.save({ ...found, microDollars }, version)).toBe(true);
  for (const app of [one, other]) await app.service.directory.reload();
}

const report = (app: TestApp, body: object): Promise<Reply> =>
  app.post('/api/auth/usage', { tokens: 0, dollars: 0, ...body }, service);
const endOf = async (id: string) => (await one.sessions.find(id))?.endReason;

/** The facts of budgets in the journal, oldest first; `80` stands for a threshold. */
async function told(): Promise<(string | number)[]> {
  const { entries } = await one.service.stores.journal.list({ kinds: ['fact'], tenants: '*' }, undefined, 200);
  return entries
    .map(({ code, detail }) => (code === 'budget.warned' ? Number(detail['percent']) : code.replace('budget.', '')))
    .toReversed();
}

describe('A budget over two nodes', () => {
  test('counts what both have counted a second ago, tells each threshold once, and ends sessions of both', async () => {
    await make();
    const key = await one.key();
    await other.service.directory.reload();
    const [here, there] = [await one.open(key, { email: somebody() }), await other.open(key, { email: somebody() })];
    expect((await report(one, { sm_session_id: here, dollars: 3 })).status).toBe(200);
    expect((await report(other, { sm_session_id: there, dollars: 3 })).status).toBe(200);
    one.clock.advance(SECOND);
    expect((await report(one, { sm_session_id: here, dollars: 0.1 })).status).toBe(200);
    expect((await report(other, { sm_session_id: there, dollars: 0.1 })).status).toBe(200);
    expect(await told()).toEqual([50]);
    // For one second each node knows only its own usage: that is the possible overshoot.
    const both = [
      report(one, { sm_session_id: here, dollars: 2 }),
      report(other, { sm_session_id: there, dollars: 2 }),
    ];
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    one.clock.advance(SECOND);
    expect((await report(one, { sm_session_id: here, dollars: 0.000001 })).status).toBe(429);
    expect([await endOf(here), await endOf(there)]).toEqual(['quota_exceeded', 'quota_exceeded']);
    for (const app of [one, other]) expect((await app.create(key)).status).toBe(429);
    expect(await told()).toEqual([50, 80, 'exceeded']);
  });

  test('of a key is exact: what the other has counted is in the total of the entry itself', async () => {
    const key = await one.key();
    await make({ of: `key:${key.id}`, period: 'week' });
    const [here, there] = [await one.open(key), await other.open(key)];
    await report(one, { sm_session_id: here, dollars: 9 });
    expect((await report(other, { sm_session_id: there, dollars: 0.999999 })).status).toBe(200);
    expect((await report(one, { sm_session_id: here, dollars: 0.000001 })).status).toBe(429);
    expect((await other.create(key)).status).toBe(429);
  });

  test('that is raised on one is open on both, and one that is lowered ends what both have open', async () => {
    await make({ microDollars: 1_000_000 });
    const key = await one.key();
    await other.service.directory.reload();
    const id = await one.open(key);
    await report(one, { sm_session_id: id, dollars: 1 });
    await change(5_000_000, 1);
    await expect.poll(told).toEqual(['exceeded', 'raised']);
    const [here, there] = [await one.open(key), await other.open(key)];
    await change(500_000, 2);
    await expect
      .poll(async () => [await endOf(here), await endOf(there)])
      .toEqual(['quota_exceeded', 'quota_exceeded']);
    await expect.poll(told).toEqual(['exceeded', 'raised', 'exceeded']);
  });
});

/** A node that alone knows its budgets, which are of `acme`. */
function nodeWith(all: readonly (Partial<Budget> & { readonly of: string })[]): BudgetLimits {
  const terms = { period: 'month', from: null, microDollars: 10_000_000, tokens: null, microMinutes: null } as const;
  const usual = { warnAt: [50], atLimit: 'end', tell: null, madeBy: 'operator', isInFile: false, version: 1 } as const;
  const made = { tenantId: 'acme', ...terms, ...usual, changedAtMs: NOON };
  const budgets = all.map((changes, n) => ({ ...made, id: `b${n}`, ...changes }));
  const { calendar, stores } = one.service;
  return new BudgetLimits({
    ...stores,
    node: 'node',
    clock: one.clock,
    directory: {
      budgetsOf: (tenantId) => budgets.filter((budget) => budget.tenantId === tenantId),
      allBudgets: () => budgets,
      all: () => [],
    },
    sessions: one.sessions,
    adminsOf: () => [],
    calendar,
    periodAt: createPeriods('UTC', calendar),
  });
}

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const spies = [vi.spyOn(database(), 'run'), vi.spyOn(database(), 'transaction')];
  await work();
  const asked = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  for (const spy of spies) spy.mockRestore();
  return asked;
}

describe('What an entry has told', () => {
  const owner = { subject: 'somebody', tenantId: 'acme', keyId: 'site', agentId: 'support', sessionId: 's:somebody:1' };

  test('counts once in a sum that several budgets share', async () => {
    const limits = nodeWith([
      { of: 'tenant' },
      { of: 'tenant', microDollars: 20_000_000 },
      { of: 'tenant', atLimit: 'tell' },
    ]);
    const atMs = one.clock.now();
    const { day } = one.service.calendar(atMs);
    expect(await limits.usedUp(owner, atMs, true)).toBeUndefined();
    const added = { tokens: 0, microDollars: 4_000_000 };
    await limits.counted(owner, { day, totals: added, keyTotals: added, added, atMs });
    expect((await limits.accountsOf(owner, atMs)).map(({ total }) => total)).toMatchObject([added, added]);
  });

  test('leaves little to read, all of it at once: in a second one statement for each kind of sum, however many budgets', async () => {
    const kinds = ['tenant', 'agent:support', 'key:site', 'user'] as const;
    const periods = ['week', 'month'] as const;
    const limits = nodeWith(kinds.flatMap((of) => periods.map((period) => ({ of, period }))));
    const atMs = one.clock.now();
    const totals = { tokens: 0, microDollars: 1 };
    const entry = { day: one.service.calendar(atMs).day, totals, keyTotals: totals, added: totals, atMs };
    // Past days; past hours, and the last two.
    expect(await statementsOf(() => limits.counted(owner, entry))).toBe(3);
    expect(await statementsOf(() => limits.counted(owner, entry))).toBe(0);
    expect(await statementsOf(() => limits.counted(owner, { ...entry, atMs: atMs + SECOND }))).toBe(1);
  });

  test('is not asked for again: neither the totals of the day nor, by several budgets, what its session has used', async () => {
    await make({ of: 'user', period: 'day' });
    for (const id of ['s1', 's2']) await make({ id, period: 'session' });
    const { budgetLimits, stores, calendar } = one.service;
    const atMs = one.clock.now();
    const added = { tokens: 1, microDollars: 2 };
    const whose = { subject: 'somebody', tenantId: 'acme', keyId: null, sessionId: 's:somebody:1' };
    const { day } = calendar(atMs);
    const shared = { keyAccount: null, tenantAccount: null, sessionAtMost: null, idempotency: null };
    const asked = [vi.spyOn(stores.ledger, 'totals'), vi.spyOn(stores.budgetUse, 'ofSession')] as const;
    for (const nth of [1, 2, 3]) {
      const answer = await stores.ledger.record({ ...whose, ...added, ...shared, day, atMs });
      if (answer.kind !== 'counted') throw new Error(answer.kind);
      const entry = { ...answer, added, atMs };
      await budgetLimits.counted(whose, entry);
      const left = await budgetLimits.accountsOf(whose, atMs, entry);
      expect(left.map(({ total }) => total.microDollars)).toEqual([2 * nth, 2 * nth, 2 * nth]);
    }
    expect(asked.map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
    for (const spy of asked) spy.mockRestore();
  });
});

describe('A budget whose node dies, or whose database is away', () => {
  /** Writes only the ledger entry, as a node does that dies right after it. */
  async function entryAlone(app: TestApp, id: string, microDollars: number): Promise<void> {
    const record = await app.sessions.find(id);
    if (record === undefined) throw new Error('there is no session');
    const { subject, tenantId, keyId } = record;
    const atMs = app.clock.now();
    await app.service.stores.ledger.record({
      subject,
      tenantId,
      day: app.service.calendar(atMs).day,
      tokens: 0,
      microDollars,
      atMs,
      sessionId: id,
      sessionAtMost: null,
      ...sharedAccounts(tenantId, keyId),
      idempotency: null,
    });
  }

  test.each(['tenant', 'user', 'installation', 'agent:support'])(
    'of %s: between an entry and what follows it, another look ends and tells',
    async (of) => {
      await make({ of, ...(of === 'installation' ? { tenantId: null } : {}) });
      const id = await one.open(await one.key(), { email: somebody(), agentId: 'support' });
      await entryAlone(one, id, 10_000_000);
      expect(await endOf(id)).toBeNull();
      one.clock.advance(SECOND);
      await other.service.budgetLimits.lookAtAll(one.clock.now());
      expect(await endOf(id)).toBe('quota_exceeded');
      expect(await told()).toEqual(['exceeded']);
      await one.service.budgetLimits.lookAtAll(one.clock.now());
      expect(await told()).toEqual(['exceeded']);
    },
  );

  test.each([
    ['user', 'month'],
    ['tenant', 'session'],
  ] as const)('of each %s in a %s: another look tells of one who has ended since', async (of, period) => {
    await make({ of, period });
    const key = await one.key();
    const [warned, spent] = [await one.open(key, { email: somebody() }), await one.open(key, { email: somebody() })];
    await entryAlone(one, warned, 5_000_000);
    await entryAlone(one, spent, 10_000_000);
    for (const id of [warned, spent]) await one.sessions.end(id, 'closed_by_client', one.clock.now());
    one.clock.advance(MINUTE);
    await other.service.budgetLimits.lookAtAll(one.clock.now());
    expect(new Set(await told())).toEqual(new Set([50, 'exceeded']));
    await one.service.budgetLimits.lookAtAll(one.clock.now());
    expect(await told()).toHaveLength(2);
  });

  test('of each user: that it is raised is told of who had used it up, however little that is of it now', async () => {
    await make({ of: 'user' });
    const id = await one.open(await one.key(), { email: somebody() });
    await report(one, { sm_session_id: id, dollars: 10 });
    await change(1_000_000_000, 1);
    await expect.poll(told).toEqual(['exceeded', 'raised']);
  });

  test('of each user: a threshold that a raise has left behind is told again, whoever looks at the raise', async () => {
    await make({ of: 'user' });
    const id = await one.open(await one.key(), { email: somebody() });
    await report(one, { sm_session_id: id, dollars: 6 });
    await change(20_000_000, 1);
    await other.service.budgetLimits.look(other.service.directory.budgetsOf('acme'), one.clock.now());
    await report(one, { sm_session_id: id, dollars: 4 });
    expect(await told()).toEqual([50, 50]);
  });

  test('of sessions: a look ends those that are over alone', async () => {
    await make({ period: 'session', of: 'tenant' });
    const key = await one.key();
    const [id, within] = [await one.open(key), await one.open(key)];
    await entryAlone(one, id, 10_000_000);
    await entryAlone(one, within, 9_999_999);
    await other.service.budgetLimits.lookAtAll(one.clock.now());
    expect([await endOf(id), await endOf(within)]).toEqual(['quota_exceeded', null]);
  });

  test('is not taken for raised by a node that has not read yet what another counted', async () => {
    await make();
    await other.service.budgetLimits.lookAtAll(one.clock.now());
    await report(one, { sm_session_id: await one.open(await one.key()), dollars: 10 });
    await change(9_000_000, 1);
    await other.service.budgetLimits.lookAtAll(one.clock.now());
    expect(await told()).toEqual(['exceeded']);
  });

  test('is looked up once after a change that tells nothing new, and not with every entry', async () => {
    await make({ period: 'once', from: '2030-01-01', atLimit: 'tell' });
    const id = await one.open(await one.key());
    await report(one, { sm_session_id: id, dollars: 10 });
    const loads = vi.spyOn(one.service.stores.budgetStates, 'load');
    await change(9_000_000, 1);
    await expect.poll(() => loads.mock.results.length).toBe(1);
    await loads.mock.results[0]?.value;
    for (let n = 0; n < 3; n += 1) await report(one, { sm_session_id: id, dollars: 0.1 });
    expect(loads).toHaveBeenCalledTimes(1);
    loads.mockRestore();
    expect(await told()).toEqual(['exceeded']);
  });

  test('counts and ends although what is told cannot be kept, and tells it with the next entry', async () => {
    await make();
    const id = await one.open(await one.key());
    const { budgetStates } = one.service.stores;
    const whole = { ...budgetStates };
    Object.assign(budgetStates, { save: () => Promise.reject(new Unavailable('database')) });
    expect((await report(one, { sm_session_id: id, dollars: 10 })).status).toBe(429);
    expect(await endOf(id)).toBe('quota_exceeded');
    expect(await told()).toEqual([]);
    Object.assign(budgetStates, whole);
    await report(one, { sm_session_id: id, dollars: 0.1 });
    expect(await told()).toEqual(['exceeded']);
  });

  test('refuses a create with 503 while nobody knows what is used', async () => {
    await make();
    const key = await one.key();
    await other.service.directory.reload();
    Object.assign(one.service.stores.budgetUse, { ofHours: () => Promise.reject(new Unavailable('database')) });
    one.clock.advance(SECOND);
    expect((await one.create(key)).status).toBe(503);
    expect((await other.create(key)).status).toBe(200);
  });
});

describe('A look at all budgets', () => {
  test.each([
    [0, 0],
    [1, 10],
    [10, 10],
  ])('of %d of each of four kinds asks %d statements', async (count, statements) => {
    const minutes = { microMinutes: 9_000_000 };
    const kinds = ['tenant', 'key:site', 'agent:support', 'user:somebody'];
    const limits = nodeWith(kinds.flatMap((of) => Array.from({ length: count }, () => ({ of, ...minutes }))));
    // The statements read what was told of the budgets, in this period and in past ones; past days and today; past hours and the last two;
    // and both for calls, by subject and by tenant.
    expect(await statementsOf(() => limits.lookAtAll(one.clock.now()))).toBe(statements);
  });
});

test.each([29, 57, 58, 99])('Exactly %i of 100 is that many percent', (percent) => {
  const limits = { microDollars: 100, tokens: 100, microMinutes: null };
  for (const amount of ['microDollars', 'tokens'])
    expect(percentOf({ tokens: 0, microDollars: 0, connectedMs: 0, [amount]: percent }, limits)).toBe(percent);
});

describe('The period of a budget', () => {
  test('begins anew at midnight, also for who was refused, and an entry that came late ends nobody of the new one', async () => {
    await clear();
    await buildBoth({ QUOTA_TIMEZONE: 'Asia/Kolkata' });
    one.clock.set(Date.UTC(2030, 0, 31, 18));
    await make({ of: 'tenant', period: 'month' });
    const key = await one.key();
    const id = await one.open(key);
    await report(one, { sm_session_id: id, dollars: 10 });
    expect((await one.create(key)).status).toBe(429);
    one.clock.set(Date.UTC(2030, 0, 31, 18, 29, 59, 999));
    expect((await one.create(key)).status).toBe(429);
    one.clock.advance(1);
    const fresh = await one.open(key);
    expect((await report(one, { sm_session_id: fresh, dollars: 9 })).status).toBe(200);
    const owner = { subject: 'x', tenantId: 'acme', keyId: key.id, agentId: null, sessionId: id };
    const totals = { tokens: 0, microDollars: 0 };
    const late = { atMs: Date.UTC(2030, 0, 31, 18, 29), day: '2030-01-31', totals, keyTotals: totals, added: totals };
    await one.service.budgetLimits.counted(owner, late);
    expect(await endOf(fresh)).toBeNull();
    expect(await told()).toEqual(['exceeded', 80]);
  });

  test('is told of once over both nodes when it is over, of a budget that was told of in it', async () => {
    const endpoint = {
      ...newEndpoint('wh_money'),
      tenantId: 'acme',
      url: 'https://hooks.acme.example/',
      createdBy: 'ops',
    };
    const types = ['budget.warned', 'budget.exceeded', 'budget.reset'];
    const { webhooks } = one.service.stores;
    await webhooks.insert({ ...endpoint, types, createdAtMs: NOON }, 10);
    const bodies = async () => {
      const { rows } = await webhooks.deliveries({ endpointId: endpoint.id }, undefined, 9);
      const found = await Promise.all(rows.map(({ eventId }) => webhooks.delivery(endpoint.id, eventId)));
      return found.map((row) => JSON.parse(row?.body ?? '') as unknown).toReversed();
    };
    try {
      one.clock.set(Date.UTC(2030, 0, 2, 12));
      await make({ period: 'day' });
      await make({ id: 'quiet', period: 'day', microDollars: 1_000_000_000 });
      const id = await one.open(await one.key());
      await report(one, { sm_session_id: id, dollars: 6, tokens: 7 });
      const looks = () => Promise.all([one, other].map((app) => app.service.budgetLimits.lookAtAll(one.clock.now())));
      one.clock.set(Date.UTC(2030, 0, 3, 0, 0, 40));
      for (let n = 0; n < 2; n += 1) await looks();
      const budget = { id: 'b', of: 'tenant', period: 'day' };
      const limit = { tokens: null, microDollars: 10_000_000 };
      const common = { tenantId: 'acme', budget, account: 'tenant:acme', limit, then: 'end' };
      expect(await bodies()).toEqual([
        {
          type: 'budget.warned',
          timestamp: '2030-01-02T12:00:00.000Z',
          data: {
            ...common,
            percent: 50,
            used: { tokens: 7, microDollars: 6_000_000 },
            since: '2030-01-02T00:00:00.000Z',
            resetAt: '2030-01-03T00:00:00.000Z',
            projectedAt: expect.any(String),
            sessions: [{ ref: refOf(id), microDollars: 6_000_000 }],
            sessionsSince: '2030-01-02T00:00:00.000Z',
          },
        },
        {
          type: 'budget.reset',
          timestamp: '2030-01-03T00:00:00.000Z',
          data: {
            ...common,
            percent: 0,
            used: { tokens: 0, microDollars: 0 },
            since: '2030-01-03T00:00:00.000Z',
            resetAt: '2030-01-04T00:00:00.000Z',
            projectedAt: null,
            sessions: [],
            sessionsSince: null,
          },
        },
      ]);
      expect(await told()).toEqual([50]);
    } finally {
      await webhooks.delete(endpoint.id);
    }
  });

  test('projects when it is used up by the last hours, and says nothing where it lasts', async () => {
    await make({ period: 'day' });
    const id = await one.open(await one.key());
    one.clock.advance(MINUTE);
    await report(one, { sm_session_id: id, dollars: 2 });
    const [budget] = one.service.directory.budgetsOf('acme');
    const standing = async () => {
      if (budget === undefined) throw new Error('there is no budget');
      return one.service.budgetLimits.standingOf(budget, one.clock.now());
    };
    // 2 dollars were used in 61 minutes, so the other 8 last four times as long.
    expect((await standing()).projectedAtMs).toBe(one.clock.now() + 4 * (HOUR + MINUTE));
    one.clock.advance(10 * HOUR);
    expect((await standing()).projectedAtMs).toBeNull();
  });
});

describe('Budgets', () => {
  test('of users never let them pass by more than one report, and tell each threshold once, whatever comes in which order', async () => {
    const key = await one.key();
    await other.service.directory.reload();
    const step = fc.record({
      node: fc.constantFrom(0, 1),
      cents: fc.integer({ min: 0, max: 400 }),
      laterMs: fc.constantFrom(0, SECOND, HOUR, 13 * HOUR),
      times: fc.constantFrom(1, 1, 1, 1, 0.5, 2),
    });
    const terms = { of: 'user', period: 'week', then: 'end', warnAt: [50, 80] } as const;
    const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
        await clear();
        one.clock.set(NOON);
        await make({ of: 'user', period: 'week', microDollars: 5_000_000 });
        const email = somebody();
        const user = { id: '', subject: email, tenantId: 'acme', keyId: key.id, agentId: '' };
        const oracle = new BudgetOracle(terms, 500, 'acme', dayOf, '');
        let changes = 0;
        for (const [n, { node, cents, laterMs, times }] of steps.entries()) {
          one.clock.advance(laterMs);
          const [app, atMs] = [node === 0 ? one : other, one.clock.now()];
          if (times !== 1) {
            oracle.change(Math.max(1, Math.round(oracle.limit * times)));
            await change(oracle.limit * 10_000, changes + 1);
            changes += 1;
            await app.service.budgetLimits.look(app.service.directory.budgetsOf('acme'), atMs);
            oracle.look(user, atMs);
          }
          const { status } = await app.create(key, { email });
          const isRefused = oracle.isUsedUp(user, atMs);
          expect([n, status]).toEqual([n, isRefused ? 429 : 200]);
          if (isRefused) continue;
          oracle.add(user, cents, atMs);
          oracle.look(user, atMs);
          const reply = await report(app, { email, tenantId: 'acme', dollars: cents / 100 });
          expect([n, reply.status]).toEqual([n, oracle.isUsedUp(user, atMs) ? 429 : 200]);
        }
        expect((await told()).map(String)).toEqual(oracle.told.map((each) => each.split(' ').at(-1)));
      }),
      examples(8),
    );
  });
});
