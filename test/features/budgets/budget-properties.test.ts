import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { refOf } from '../../../src/kernel/ids.ts';
import { BudgetLimits } from '../../../src/budgets/budgets.ts';
import type { BudgetOwner } from '../../../src/budgets/counted-by.ts';
import { createCalendar, createPeriods } from '../../../src/quota/calendar.ts';
import type { Budget } from '../../../src/stores/budgets/contract.ts';
import { sharedAccounts } from '../../../src/stores/ledger/contract.ts';
import { createPostgresStores, type PostgresStores } from '../../../src/stores/postgres.ts';
import { voiceRecord } from '../../contracts/support.ts';
import { unique } from '../../support/app.ts';
import { HOUR, ManualClock, MINUTE, SECOND } from '../../support/clock.ts';
import { examples } from '../../support/examples.ts';
import { useApps } from '../../support/use-apps.ts';
import { BudgetOracle, type Speaker, type Terms } from './budget-oracle.ts';

const { database } = useApps();

const MICRO = 10_000;
const FIRST_LIMIT = 500;

/** Shortly before a time zone's clocks change, or before the end of a month, a week or a year. */
const beginnings = [
  ['UTC', '2030-12-29T12:00:00Z'],
  ['Europe/Berlin', '2030-03-30T12:00:00Z'],
  ['America/New_York', '2030-11-02T12:00:00Z'],
  ['Australia/Lord_Howe', '2030-04-05T22:00:00Z'],
  ['Asia/Kolkata', '2030-01-31T06:00:00Z'],
  ['Pacific/Apia', '2011-12-29T18:00:00Z'],
] as const;

/** Who speaks, each in one session at a time: the first and the third are one user, the last is of another tenant. */
const places = [
  { user: 'a', isOther: false, keyId: 'near', agentId: 'support' },
  { user: 'b', isOther: false, keyId: 'near', agentId: 'support' },
  { user: 'a', isOther: false, keyId: 'far', agentId: 'sales' },
  { user: 'c', isOther: true, keyId: 'near', agentId: 'support' },
] as const;

/** Two nodes with one database, some budgets, and those who use them up. */
class World {
  readonly clock: ManualClock;
  readonly tenantId = unique('t');
  readonly oracles: readonly BudgetOracle[];
  readonly nodes: readonly BudgetLimits[];
  /** By place; those whose session was ended have none. */
  readonly live = new Map<number, Speaker>();
  readonly #stores: PostgresStores;
  readonly #records = new Map<string, VoiceRecord>();
  /** Remembers the current day, which takes a hundred conversions of the time zone to find. */
  readonly #calendar: ReturnType<typeof createCalendar>;
  readonly #zone: string;
  readonly #firstDay: string;
  #budgets: readonly Budget[] = [];

  constructor(zone: string, from: string, all: readonly Terms[]) {
    this.#zone = zone;
    this.#calendar = createCalendar(zone);
    this.clock = new ManualClock(Date.parse(from));
    this.#stores = createPostgresStores(database());
    this.nodes = [this.#nodeOf('one'), this.#nodeOf('other')];
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
    const dayOf = (atMs: number): string => format.format(atMs);
    // Not today, so that a budget that counts once counts nothing at first.
    this.#firstDay = dayOf(this.clock.now() + 24 * HOUR);
    this.oracles = all.map((terms) => {
      const of = terms.of === 'user:a' ? `user:${this.#subjectOf('a')}` : terms.of;
      return new BudgetOracle({ ...terms, of }, FIRST_LIMIT, this.tenantId, dayOf, this.#firstDay);
    });
  }

  #subjectOf(user: string): string {
    return `${this.tenantId}-${user}`;
  }

  #nodeOf(node: string): BudgetLimits {
    const calendar = this.#calendar;
    const end = (id: string): void => {
      for (const [place, speaker] of this.live) if (speaker.id === id) this.live.delete(place);
    };
    const endIf = (isMeant: (record: VoiceRecord) => boolean): Promise<void> => {
      for (const record of this.#records.values()) if (isMeant(record)) end(record.id);
      return Promise.resolve();
    };
    return new BudgetLimits({
      ...this.#stores,
      node,
      clock: this.clock,
      directory: {
        budgetsOf: (tenantId) => this.#budgets.filter((budget) => budget.tenantId === tenantId),
        allBudgets: () => this.#budgets,
        all: () => [{ id: this.tenantId }, { id: `${this.tenantId}-other` }],
      },
      sessions: {
        find: (id) => this.#records.get(id),
        end,
        endSubject: (subject, _reason, _at, isMeant) =>
          endIf((record) => record.subject === subject && isMeant(record)),
        endKey: (tenantId, keyId) => endIf((record) => record.tenantId === tenantId && record.keyId === keyId),
      },
      adminsOf: () => [],
      calendar,
      periodAt: createPeriods(this.#zone, calendar),
    });
  }

  async makeBudgets(): Promise<void> {
    for (const [n, { terms, limit }] of this.oracles.entries()) {
      const tenantId = terms.of === 'installation' ? null : this.tenantId;
      const amounts = { microDollars: limit * MICRO, tokens: null, microMinutes: null };
      const { then: atLimit, ...others } = terms;
      const made = { madeBy: 'operator', tell: [], changedAtMs: this.clock.now() } as const;
      const from = terms.period === 'once' ? this.#firstDay : null;
      await this.#stores.budgets.insert({ id: `b${n}`, tenantId, from, ...others, atLimit, ...amounts, ...made }, 50);
    }
    this.#budgets = await this.#stores.budgets.all();
  }

  /** Raises or lowers a budget; both nodes look at it, as they do when they hear of a change. */
  async change(n: number, limit: number): Promise<void> {
    const id = `b${n % this.oracles.length}`;
    const found = this.#budgets.find((budget) => budget.id === id);
    if (found === undefined) throw new Error('there is no budget');
    expect(await this.#stores.budgets.save({ ...found, microDollars: limit * MICRO }, found.version)).toBe(true);
    this.#budgets = await this.#stores.budgets.all();
    const changed = this.#budgets.filter((budget) => budget.id === id);
    await Promise.all(this.nodes.map((node) => node.look(changed, this.clock.now())));
  }

  /** The first moment of the first budget's next period; undefined where it never begins anew. */
  async nextPeriodMs(): Promise<number | undefined> {
    const [budget] = this.#budgets;
    if (budget === undefined) return undefined;
    const { period } = await (this.nodes[0] as BudgetLimits).standingOf(budget, this.clock.now());
    return period.resetAtMs ?? undefined;
  }

  speakerOf(place: number): Speaker {
    const { user, isOther, keyId, agentId } = places[place] ?? places[0];
    const [tenantId, subject] = [isOther ? `${this.tenantId}-other` : this.tenantId, this.#subjectOf(user)];
    return { id: unique(`s:${subject}:`), tenantId, subject, keyId, agentId };
  }

  async open(place: number, speaker: Speaker): Promise<void> {
    const record = voiceRecord({ ...speaker, startedAtMs: this.clock.now() });
    await this.#stores.history.insert({ record, state: 'engaged' });
    this.#records.set(record.id, record);
    this.live.set(place, speaker);
  }

  /** Counts an entry, as a node does that meters a call. @returns whether a budget that ends sessions has nothing left */
  async count(node: BudgetLimits, speaker: Speaker, amount: number): Promise<boolean> {
    const { id: sessionId, subject, tenantId, keyId } = speaker;
    const atMs = this.clock.now();
    const added = { tokens: 0, microDollars: amount * MICRO };
    const { day } = this.#calendar(atMs);
    const whose = { subject, tenantId, sessionId, ...sharedAccounts(tenantId, keyId) };
    const answer = await this.#stores.ledger.record({
      ...whose,
      ...added,
      day,
      atMs,
      sessionAtMost: null,
      idempotency: null,
    });
    if (answer.kind !== 'counted') throw new Error(answer.kind);
    const owner: BudgetOwner = { subject, tenantId, keyId, sessionId };
    return (await node.counted(owner, { ...answer, added, atMs })) !== undefined;
  }

  /** What the journal has of a budget: period, account, and a threshold or `exceeded` or `raised`, oldest first. */
  async told(n: number): Promise<string[]> {
    const { of } = this.oracles[n]?.terms ?? { of: '' };
    const target = `${of === 'installation' ? of : this.tenantId}/b${n}`;
    const rows = await database().run(
      (sql) => sql<{ code: string; period: string; account: string; percent: number }[]>`
        select code, detail ->> 'periodName' as period, detail ->> 'account' as account, (detail ->> 'percent')::integer as percent
        from journal where kind = 'fact' and target = ${target} order by ordinal`,
    );
    const sessions = new Map([...this.#records.keys()].map((id) => [refOf(id), id]));
    return rows.map(({ code, period, account, percent }) => {
      const own = of.startsWith('user') ? account : of;
      return `${period} ${sessions.get(account) ?? own} ${code === 'budget.warned' ? percent : code.replace('budget.', '')}`;
    });
  }

  /** All sessions that ever were. */
  get speakers(): readonly Speaker[] {
    return [...this.#records.values()].map(({ id, subject, tenantId, keyId, agentId }) => ({
      id,
      subject,
      tenantId,
      keyId: keyId ?? '',
      agentId: agentId ?? '',
    }));
  }

  static async clear(): Promise<void> {
    for (const table of [
      'budget',
      'budget_state',
      'usage_total',
      'usage_hour',
      'usage_day',
      'usage_entry',
      'voice_session',
    ])
      await database().run((sql) => sql`delete from ${sql(table)}`);
    await database().run((sql) => sql`delete from journal where kind = 'fact'`);
  }
}

const warnAt = fc
  .uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 3 })
  .map((all) => all.toSorted((a, b) => a - b));
const period = fc.constantFrom('session', 'day', 'week', 'month', 'once' as const);
const then = fc.constantFrom('end', 'end', 'refuse', 'tell' as const);
const exact = fc.record({ of: fc.constantFrom('key:near', 'user', 'user:a'), period, then, warnAt });
/** Of these no row has a total: what another node has counted is known a second later. */
const NEAR = ['tenant', 'agent:support', 'installation'];
const nearExact = fc.record({ of: fc.constantFrom(...NEAR), period, then, warnAt });

const who = { place: fc.nat(3), node: fc.nat(1) };
/** `threshold` is what the first budget lacks until its next threshold. */
const amount = fc.oneof(fc.nat(250), fc.constant('threshold' as const));
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('use' as const), ...who, amount }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('change' as const),
      budget: fc.nat(2),
      times: fc.constantFrom(0.3, 0.7, 1.5, 4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('look' as const), node: fc.nat(1) }) },
);
/** `last` and `first` are the moments at which the first budget's period ends, and the next one begins. */
const later = fc.constantFrom(0, 0, SECOND, MINUTE, HOUR, 13 * HOUR, 'last' as const, 'first' as const);
const steps = fc.array(fc.record({ act, later }), { minLength: 4, maxLength: 12 });

type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

async function advance(world: World, by: number | 'last' | 'first', leastMs: number): Promise<void> {
  const { clock } = world;
  const before = clock.now();
  if (typeof by === 'number') clock.advance(by);
  else clock.set(Math.max(before, ((await world.nextPeriodMs()) ?? before) - (by === 'last' ? 1 : 0)));
  if (clock.now() < before + leastMs) clock.set(before + leastMs);
}

/** The sessions that the budgets end when a node looks at a speaker's accounts. */
function lookAt(world: World, oracle: BudgetOracle, speaker: Speaker, expected: Map<number, Speaker>): void {
  const atMs = world.clock.now();
  oracle.look(speaker, atMs);
  if (oracle.terms.then !== 'end' || !oracle.isUsedUp(speaker, atMs)) return;
  for (const [place, one] of expected)
    if (oracle.counts(one) && oracle.accountOf(one) === oracle.accountOf(speaker)) expected.delete(place);
}

/** What a look without an entry finds. */
function lookAtAll(world: World, oracle: BudgetOracle, expected: Map<number, Speaker>): void {
  const atMs = world.clock.now();
  const { terms, limit } = oracle;
  const least = Math.ceil((limit * Math.min(100, ...terms.warnAt)) / 100);
  for (const speaker of world.speakers.filter((one) => oracle.counts(one)))
    // Of sessions only those are looked at that have reached a threshold.
    if (terms.period !== 'session' || oracle.used(speaker, atMs) >= least) lookAt(world, oracle, speaker, expected);
}

async function use(world: World, { place, node: n, amount: wanted }: Extract<Act, { does: 'use' }>): Promise<void> {
  const { clock, oracles, nodes } = world;
  const [atMs, node] = [clock.now(), nodes[n] as BudgetLimits];
  const live = world.live.get(place);
  const speaker = live ?? world.speakerOf(place);
  const owner = { ...speaker, sessionId: live?.id };
  const refusing = oracles.filter(
    (oracle) =>
      oracle.counts(speaker) &&
      (oracle.terms.then === 'end' || (live === undefined && oracle.terms.then === 'refuse')) &&
      oracle.isUsedUp(speaker, atMs),
  );
  const usedUp = await node.usedUp(owner, atMs, live === undefined);
  expect([atMs, usedUp !== undefined]).toEqual([atMs, refusing.length > 0]);
  if (refusing.length > 0) return;
  if (live === undefined) await world.open(place, speaker);
  const counting = oracles.filter((oracle) => oracle.counts(speaker));
  const cents = wanted === 'threshold' ? (counting[0]?.missing(speaker, atMs) ?? 1) : wanted;
  const expected = new Map(world.live);
  for (const oracle of counting) {
    oracle.add(speaker, cents, atMs);
    lookAt(world, oracle, speaker, expected);
  }
  const isOver = counting.some((oracle) => oracle.terms.then === 'end' && oracle.isUsedUp(speaker, atMs));
  expect([atMs, await world.count(node, speaker, cents)]).toEqual([atMs, isOver]);
  expect(world.live).toEqual(expected);
}

async function run(world: World, does: Act): Promise<void> {
  const { oracles } = world;
  if (does.does === 'use') return use(world, does);
  const expected = new Map(world.live);
  if (does.does === 'look') {
    await (world.nodes[does.node] as BudgetLimits).lookAtAll(world.clock.now());
    for (const oracle of oracles) lookAtAll(world, oracle, expected);
  } else {
    const oracle = oracles[does.budget % oracles.length] as BudgetOracle;
    oracle.change(Math.max(1, Math.round(oracle.limit * does.times)));
    await world.change(does.budget, oracle.limit);
    lookAtAll(world, oracle, expected);
  }
  expect(world.live).toEqual(expected);
}

describe('Budgets of any kind, raised and lowered while they are used up over days, months and changes of the clock', () => {
  test('refuse and end as soon as nothing is left, and no sooner, and tell each threshold once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...beginnings),
        fc.array(fc.oneof(exact, nearExact), { minLength: 1, maxLength: 2 }),
        fc.option(fc.record({ then, warnAt })),
        steps,
        async ([zone, from], some, twin, acts) => {
          await World.clear();
          // Another budget of the same usage.
          const all = twin === null ? some : [...some, { ...(some[0] as Terms), ...twin }];
          const world = new World(zone, from, all);
          await world.makeBudgets();
          const leastMs = all.some(({ of }) => NEAR.includes(of)) ? SECOND : 0;
          for (const { act: does, later: by } of acts) {
            await advance(world, by, leastMs);
            await run(world, does);
          }
          for (const [n, { told }] of world.oracles.entries())
            expect(BudgetOracle.grouped(await world.told(n))).toEqual(BudgetOracle.grouped(told));
        },
      ),
      examples(30),
    );
  });

  test('of a tenant, an agent or the installation may be overspent for a second, and then by one entry alone', async () => {
    const step = fc.record({ ...who, amount: fc.nat(200), laterMs: fc.constantFrom(0, 0, 300, 700, SECOND) });
    const terms = fc.record({
      of: fc.constantFrom(...NEAR),
      period: fc.constantFrom('day', 'week', 'month' as const),
      then: fc.constant('end' as const),
      warnAt,
    });
    await fc.assert(
      fc.asyncProperty(terms, fc.array(step, { minLength: 6, maxLength: 20 }), async (one, all) => {
        await World.clear();
        const world = new World('UTC', '2030-01-02T12:00:00Z', [one]);
        await world.makeBudgets();
        const [oracle] = world.oracles as [BudgetOracle];
        /** What a node knows at least: what it counted itself, and what all counted more than a second ago. */
        const counted: { readonly node: number; readonly atMs: number; readonly amount: number }[] = [];
        const knownBy = (node: number, atMs: number): number =>
          counted.reduce((sum, each) => sum + (each.node === node || each.atMs <= atMs - SECOND ? each.amount : 0), 0);
        /** Whether a node may, or must, say that nothing is left. */
        const allowed = (speaker: Speaker, node: number, atMs: number): readonly boolean[] => {
          if (!oracle.counts(speaker) || !oracle.isUsedUp(speaker, atMs)) return [false];
          return knownBy(node, atMs) >= oracle.limit ? [true] : [false, true];
        };
        let spentAtMs = Infinity;
        let late = 0;
        for (const { place, node: n, amount: cents, laterMs } of all) {
          world.clock.advance(laterMs);
          const [atMs, node] = [world.clock.now(), world.nodes[n] as BudgetLimits];
          const live = world.live.get(place);
          const speaker = live ?? world.speakerOf(place);
          const counts = oracle.counts(speaker);
          const isRefused =
            (await node.usedUp({ ...speaker, sessionId: live?.id }, atMs, live === undefined)) !== undefined;
          expect(allowed(speaker, n, atMs)).toContain(isRefused);
          if (isRefused && live === undefined) continue;
          if (live === undefined) await world.open(place, speaker);
          if (counts && atMs >= spentAtMs + SECOND) late += 1;
          if (counts) {
            oracle.add(speaker, cents, atMs);
            counted.push({ node: n, atMs, amount: cents });
            if (oracle.isUsedUp(speaker, atMs)) spentAtMs = Math.min(spentAtMs, atMs);
          }
          const isOver = await world.count(node, speaker, cents);
          expect(allowed(speaker, n, atMs)).toContain(isOver);
          const isAnyLeft = [...world.live.values()].some((each) => oracle.counts(each));
          expect(isOver && isAnyLeft).toBe(false);
        }
        expect(late).toBeLessThanOrEqual(1);
        world.clock.advance(SECOND);
        const atMs = world.clock.now();
        await Promise.all(world.nodes.map((node) => node.lookAtAll(atMs)));
        const told = (await world.told(0))
          .map((each) => each.split(' ').at(-1))
          .map((each) => Number(each === 'exceeded' ? 100 : each));
        expect(told).toEqual([...new Set(told)].toSorted((a, b) => a - b));
        const first = world.speakers.find((each) => oracle.counts(each));
        expect(told.at(-1) ?? 0).toBe(first === undefined ? 0 : oracle.reached(first, atMs));
      }),
      examples(12),
    );
  });
});
