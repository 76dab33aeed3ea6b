import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { NewBudget } from '../../../src/stores/budgets/contract.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { attached } from '../../channel/client.ts';
import { exchange, openBrokered, openedBy, type Opened } from '../../http/calls.ts';
import { service, somebody, type TestApp } from '../../support/app.ts';
import { HOUR, MINUTE, NOON, SECOND } from '../../support/clock.ts';
import { examples } from '../../support/examples.ts';
import { FakeBrokeredProvider } from '../../support/fake-brokered-provider.ts';
import { useApps } from '../../support/use-apps.ts';

const { build, database } = useApps();

/** Limits of a visitor that are too wide to matter here, and calls that Switchboard opens. */
const WIDE = {
  CALL_MODE: 'brokered',
  WIDGET_SESSION_PER_MIN: '100000',
  WIDGET_MAX_DOLLARS_DAILY: '100000',
  WIDGET_MAX_CONCURRENT_SESSIONS: '100000',
};

let one: TestApp;
let other: TestApp;
let provider: FakeBrokeredProvider;

beforeEach(() => start());

afterEach(clear);

/** Two nodes with one database, one clock, one bus and one provider. @param clock a clock to go on with */
async function start(clock?: TestApp['clock']): Promise<void> {
  provider = new FakeBrokeredProvider();
  one = await build({ brokered: provider, env: WIDE, ...(clock && { clock }) });
  other = await build({ brokered: provider, env: WIDE, clock: one.clock, live: one.live });
}

async function clear(): Promise<void> {
  for (const table of ['budget', 'budget_state', 'usage_total', 'usage_hour', 'usage_entry', 'tool_call', 'voice_call'])
    await database().run((sql) => sql`delete from ${sql(table)}`);
  await database().run((sql) => sql`delete from journal where kind = 'fact'`);
}

/** Makes a budget of minutes and waits until both nodes know it. */
async function make(minutes: number, changes: Partial<NewBudget> = {}): Promise<void> {
  const terms = { of: 'tenant', period: 'month', from: null, microDollars: null, tokens: null } as const;
  const usual = { warnAt: [50], atLimit: 'end', tell: null, madeBy: 'operator', changedAtMs: one.clock.now() } as const;
  const budget = { tenantId: 'acme', id: 'b', microMinutes: minutes * 1_000_000, ...terms, ...usual, ...changes };
  await one.service.stores.budgets.insert(budget, 50);
  await learn();
}

async function learn(): Promise<void> {
  for (const app of [one, other]) await app.service.directory.reload();
}

async function speak(app: TestApp, body: object = {}, key = keyOf): Promise<Opened> {
  const session = await openBrokered(app, await key(), body);
  expect((await exchange(app, session)).status).toBe(201);
  return session;
}

async function keyOf() {
  const key = await one.key();
  await learn();
  return key;
}

/**
 * Lets seconds pass as the service does on the nodes that are alive: by threes, which keep leases alive, and the last ones one by one, because
 * what is asserted happens in those.
 */
async function pass(seconds: number, nodes: readonly TestApp[] = [one, other]): Promise<void> {
  for (let left = seconds; left > 0;) {
    const step = left > 3 ? 3 : 1;
    left -= step;
    one.clock.advance(step * SECOND);
    for (const { service: parts } of nodes) {
      await parts.heldCalls?.renewLease();
      await parts.heldCalls?.tick();
      await parts.heldCalls?.settled();
      await parts.metering.flush();
      await parts.budgets.followMinutes();
      await parts.budgets.tick();
      await parts.heldCalls?.settled();
    }
  }
}

const endOf = async ({ id }: Opened) => (await one.sessions.find(id))?.endReason;
const usedMs = async (): Promise<number | undefined> => {
  const [budget] = one.service.directory.budgetsOf('acme');
  if (budget === undefined) throw new Error('there is no budget');
  return (await other.service.budgetLimits.standingOf(budget, one.clock.now())).used?.connectedMs;
};
const told = async () => {
  const { entries } = await one.service.stores.journal.list({ kinds: ['fact'], tenants: '*' }, undefined, 200);
  return entries.map(({ code, detail }) => [code.replace('budget.', ''), detail['usedConnectedMs']]).toReversed();
};

describe('A budget of minutes', () => {
  test.each([
    ['tenant', 'day'],
    ['tenant', 'session'],
    ['user', 'week'],
    ['user', 'session'],
    ['agent:support', 'once'],
    ['agent:support', 'session'],
    ['installation', 'month'],
  ] as const)('of %s, %s, ends a call within two seconds of its minutes being over', async (of, period) => {
    const from = period === 'once' ? '2030-01-01' : null;
    await make(1, { of, period, from, ...(of === 'installation' ? { tenantId: null } : {}) });
    const session = await speak(one, { email: somebody(), agentId: 'support' });
    await pass(59);
    expect(await endOf(session)).toBeNull();
    await pass(2);
    expect(await endOf(session)).toBe('quota_exceeded');
    expect(provider.live.size).toBe(0);
    expect(await told()).toEqual([
      ['warned', 30 * SECOND],
      ['exceeded', MINUTE],
    ]);
  });

  test('of a key refuses creates and calls once its minutes are over, until it is raised', async () => {
    const key = await keyOf();
    await make(0.5, { of: `key:${key.id}`, period: 'week' });
    const session = await speak(one, {}, () => Promise.resolve(key));
    const waiting = await openBrokered(other, key);
    await pass(31);
    expect(await endOf(session)).toBe('quota_exceeded');
    const budget = { id: 'b', of: `key:${key.id}`, period: 'week', resetAt: '2030-01-07T00:00:00.000Z' };
    expect(await other.create(key)).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED', budget } });
    // All sessions of the key end, including one that has no call yet.
    expect(await endOf(waiting)).toBe('quota_exceeded');
    const [found] = await one.service.stores.budgets.all();
    if (found === undefined) throw new Error('there is no budget');
    await one.service.stores.budgets.save({ ...found, microMinutes: 1_000_000 }, 1);
    await learn();
    expect((await other.create(key)).status).toBe(200);
  });

  test('counts the calls of both nodes together, and warns the sockets of both', async () => {
    await make(4);
    const [here, there] = [await speak(one), await speak(other)];
    const clients = [attached(one, here.id), attached(other, there.id)];
    await pass(62);
    const warned = clients.map((client) =>
      client.heard().flatMap((frame) => (frame.type === 'warning' && frame.reason === 'quota' ? [frame] : [])),
    );
    expect(warned).toMatchObject([[{ secondsLeft: 60 }], [{ secondsLeft: 60 }]]);
    await pass(57);
    expect([await endOf(here), await endOf(there)]).toEqual([null, null]);
    await pass(2);
    expect([await endOf(here), await endOf(there)]).toEqual(['quota_exceeded', 'quota_exceeded']);
    expect(await usedMs()).toBe(4 * MINUTE);
  });

  test('goes on counting where its node dies and another takes the call, which ends it', async () => {
    await make(1);
    const session = await speak(one);
    await pass(20, [one, other]);
    await pass(39, [other]);
    expect(await usedMs()).toBe(59 * SECOND);
    expect(await endOf(session)).toBeNull();
    await pass(2, [other]);
    expect(await endOf(session)).toBe('quota_exceeded');
    expect(await usedMs()).toBe(MINUTE);
  });

  test('begins anew at midnight in the middle of a call, and of a session does not', async () => {
    one.clock.set(NOON + 12 * HOUR - 40 * SECOND);
    await make(1, { period: 'day' });
    await make(1.5, { id: 'each', period: 'session' });
    const session = await speak(one);
    await pass(41);
    expect(await usedMs()).toBe(SECOND);
    await pass(48);
    expect(await endOf(session)).toBeNull();
    expect(await usedMs()).toBe(49 * SECOND);
    await pass(2);
    expect(await endOf(session)).toBe('quota_exceeded');
  });

  test('of each session lets the next one talk, and one that only refuses or tells lets calls go on', async () => {
    await make(0.5, { period: 'session' });
    await make(0.25, { id: 'refuses', of: 'user', period: 'day', atLimit: 'refuse' });
    await make(0.25, { id: 'tells', atLimit: 'tell', warnAt: [] });
    const [email, key] = [somebody(), await keyOf()];
    const session = await speak(one, { email }, () => Promise.resolve(key));
    await pass(29);
    expect(await endOf(session)).toBeNull();
    expect((await one.create(key, { email })).status).toBe(429);
    await pass(2);
    expect(await endOf(session)).toBe('quota_exceeded');
    const next = await speak(other, {}, () => Promise.resolve(key));
    await pass(29);
    expect(await endOf(next)).toBeNull();
  });

  test('counts no session whose page talks to the provider itself', async () => {
    await make(0.5);
    const direct = await build({ env: { ...WIDE, CALL_MODE: 'direct' }, clock: one.clock, live: one.live });
    const key = await one.key();
    await direct.service.directory.reload();
    const id = await direct.open(key);
    await pass(60, [direct]);
    await direct.service.budgetLimits.lookAtAll(one.clock.now());
    expect(await usedMs()).toBe(0);
    expect((await one.sessions.find(id))?.endReason).not.toBe('quota_exceeded');
  });

  test('is told with its minutes by the list, and projected by the last hours', async () => {
    await make(60, { microDollars: 9_000_000 });
    await speak(one);
    await pass(90);
    const { body } = await one.get('/api/operator/budgets?tenantId=acme', service);
    const projectedAt = new Date(one.clock.now() + 39 * (HOUR + 90 * SECOND)).toISOString();
    expect(body['budgets']).toMatchObject([
      { minutes: 60, dollars: 9, used: { minutes: 1.5, dollars: 0 }, percent: 2, projectedAt },
    ]);
  });

  test('asks the database for nothing where no budget has minutes, and else once a second for all calls', async () => {
    await make(9, { microDollars: 1_000_000, microMinutes: null });
    const asks = vi.spyOn(one.service.stores.budgetUse, 'connected');
    for (let n = 0; n < 3; n += 1) await speak(one);
    await pass(3, [one]);
    expect(asks).not.toHaveBeenCalled();
    await make(9, { id: 'minutes' });
    await pass(1, [one]);
    asks.mockClear();
    for (let n = 0; n < 4; n += 1) await pass(1, [one]);
    expect(asks).toHaveBeenCalledTimes(4);
    asks.mockRestore();
  });
});

describe('Minutes', () => {
  /** A call as its visitor sees it. */
  interface Talk {
    readonly session: Opened;
    readonly fromMs: number;
    untilMs: number | undefined;
  }

  const midnightMs = NOON + 12 * HOUR;
  /** A dead node is replaced within 12 seconds; until then its own calls are not checked, only those that share a budget with them. */
  const TAKEN_SEC = 12;

  /** How long today's talks have lasted in all, in milliseconds. */
  function sumOf(talks: readonly Talk[]): number {
    const now = one.clock.now();
    const sinceMs = now >= midnightMs ? midnightMs : 0;
    const lasted = talks.map(({ fromMs, untilMs = now }) => Math.max(0, untilMs - Math.max(fromMs, sinceMs)));
    return lasted.reduce((sum, ms) => sum + ms, 0);
  }

  async function noteEnds(talks: readonly Talk[]): Promise<void> {
    for (const talk of talks)
      if (talk.untilMs === undefined && (await endOf(talk.session)) !== null) talk.untilMs = one.clock.now();
  }

  /** Opens a call, or is refused if no minutes are left. */
  async function tryOpen(app: TestApp, key: WidgetKey, limitMs: number, talks: Talk[]): Promise<void> {
    const before = sumOf(talks);
    const reply = await app.create(key);
    expect([before, reply.status]).toEqual([before, before >= limitMs ? 429 : 200]);
    if (reply.status !== 200) return;
    const session = openedBy(reply, key.origin);
    expect((await exchange(app, session)).status).toBe(201);
    talks.push({ session, fromMs: one.clock.now(), untilMs: undefined });
  }

  /** Lets a second pass, and checks that the talks have not gone on for too long. */
  async function passOne(living: readonly TestApp[], limitMs: number, talks: readonly Talk[]): Promise<void> {
    const live = talks.filter(({ untilMs }) => untilMs === undefined).length;
    await pass(1, living);
    const used = sumOf(talks);
    await noteEnds(talks);
    const lateMs = live * (living.length === 2 ? 2 : 2 + TAKEN_SEC) * SECOND;
    expect(used).toBeLessThanOrEqual(live === 0 ? Infinity : limitMs + lateMs);
  }

  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ does: fc.constant('open' as const), node: fc.constantFrom(0, 1) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('end' as const), which: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('die' as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({ does: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 20 }) }),
    },
  );

  test('are charged each once, and end calls in time, whatever opens, ends and dies when', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 9 }),
        fc.constantFrom('tenant', 'key'),
        fc.integer({ min: 7, max: 30 }).map((threes) => threes * 3 * SECOND),
        async (steps, whose, limitMs) => {
          await clear();
          one.clock.set(midnightMs - 30 * SECOND);
          await start(one.clock);
          const key = await keyOf();
          await make(limitMs / MINUTE, { of: whose === 'key' ? `key:${key.id}` : 'tenant', period: 'day' });
          let living = [one, other];
          const talks: Talk[] = [];
          for (const act of steps) {
            if (act.does === 'open') await tryOpen(living[act.node % living.length] ?? other, key, limitMs, talks);
            else if (act.does === 'die') living = [other];
            else if (act.does === 'pass')
              for (let second = 0; second < act.seconds; second += 1) await passOne(living, limitMs, talks);
            else {
              const session = talks[act.which]?.session;
              if (session !== undefined) await other.sessions.end(session.id, 'closed_by_operator', one.clock.now());
              await noteEnds(talks);
            }
          }
          expect(await usedMs()).toBe(sumOf(talks));
        },
      ),
      // Each has its own limit and up to nine acts; campaigns try others.
      examples(4),
    );
  });
});
