import { describe, expect, test } from 'vitest';
import type { BudgetRecord } from '../../machines/budget/types.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { Database } from '../../src/database/database.ts';
import { randomId, refOf, rowId } from '../../src/kernel/ids.ts';
import { HOUR_MS } from '../../src/kernel/time.ts';
import type { FileBudgets } from '../../src/stores/budgets/budget-contract.ts';
import type { Budget, BudgetTold, NewBudget } from '../../src/stores/budgets/contract.ts';
import { createPostgresBudgets } from '../../src/stores/budgets/postgres.ts';
import { createPostgresBudgetStates } from '../../src/stores/budgets/postgres-states.ts';
import { createPostgresBudgetUse, createPostgresDearest } from '../../src/stores/budgets/postgres-use.ts';
import { createPostgresJournal } from '../../src/stores/journal/postgres.ts';
import { keyAccount, sharedAccounts } from '../../src/stores/ledger/contract.ts';
import { createPostgresLedger } from '../../src/stores/ledger/postgres.ts';
import { TooManyInFile } from '../../src/stores/tenants/contract.ts';
import { createPostgresTenants } from '../../src/stores/tenants/postgres.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { createPostgresVoiceCalls } from '../../src/stores/voice-calls/postgres.ts';
import { atOnce, DAY_BEGIN, endedRecord, nodesOf, RACERS, storesOf, voiceRecord } from './support.ts';
import { call } from './voice-calls.ts';
import { entryOf } from './roll-ups.ts';

/** A budget that is not stored. */
export function aBudget(changes: Partial<NewBudget> = {}): NewBudget {
  const terms = {
    of: 'tenant',
    period: 'month',
    from: null,
    microDollars: 10_000_000,
    tokens: null,
    microMinutes: null,
  } as const;
  const usual = { warnAt: [50, 80], atLimit: 'end', tell: null, madeBy: 'operator', changedAtMs: DAY_BEGIN } as const;
  return { tenantId: randomId(), id: 'march', ...terms, ...usual, ...changes };
}

/** @param nodes the connections of two nodes to one migrated database */
export function budgetsContract(name: string, nodes: () => readonly [Database, Database]): void {
  describe(`budgets, ${name}`, () => {
    const budgets = nodesOf(storesOf(nodes, createPostgresBudgets));
    const tenants = nodesOf(storesOf(nodes, createPostgresTenants));
    const merge = (named: readonly NewBudget[], tenantIds: FileBudgets['tenantIds'], day = '2030-01-05') =>
      tenants().merge([], { isPart: true, budgets: { budgets: named, tenantIds, day } });
    const ofTenant = async (tenantId: string | null): Promise<readonly Budget[]> =>
      (await budgets().all()).filter((one) => one.tenantId === tenantId);

    test('a budget is found unchanged on every node', async () => {
      const made = aBudget({ tokens: 5, of: 'user' });
      expect(await budgets().insert(made, 50)).toEqual({ ...made, version: 1, isInFile: false });
      expect(await ofTenant(made.tenantId)).toEqual([{ ...made, version: 1, isInFile: false }]);
    });

    test('of concurrent inserts of the same budget one succeeds, and no more budgets are made than allowed', async () => {
      const made = aBudget();
      const same = await atOnce(RACERS, () => budgets().insert(made, 50));
      expect(same.filter((one) => one !== 'taken')).toMatchObject([{ id: made.id, version: 1 }]);
      const others = await atOnce(RACERS, (n) => budgets().insert({ ...made, id: `b${n}` }, 10));
      expect(others.filter((one) => one !== 'too_many')).toHaveLength(9);
    });

    test('of concurrent changes of a budget one succeeds, and the others learn that its version has changed', async () => {
      const made = aBudget();
      await budgets().insert(made, 50);
      const saved = await atOnce(RACERS, (n) =>
        budgets().save({ ...made, version: 2, isInFile: false, microDollars: n + 1 }, 1),
      );
      expect(saved.filter(Boolean)).toHaveLength(1);
      expect(await ofTenant(made.tenantId)).toMatchObject([{ version: 2, microDollars: saved.indexOf(true) + 1 }]);
    });

    test('a budget that is made again continues the versions of its predecessor, so that no node takes it for an older one', async () => {
      const made = aBudget();
      await budgets().insert(made, 50);
      const of = { tenantId: made.tenantId, budgetId: made.id, period: '2030-03', account: 'a', resetAtMs: null };
      const record = {
        ...of,
        id: '',
        toldPercent: 100,
        exceededAtMs: 1,
        closedAtMs: null,
        budgetVersion: 7,
        version: 1,
      };
      await createPostgresBudgetStates(nodes()[0]).save(record, 0, undefined);
      await budgets().delete(made.tenantId, made.id);
      expect(await budgets().insert(made, 50)).toMatchObject({ version: 8 });
    });

    test('a deleted budget is gone and may be made again', async () => {
      const made = aBudget();
      await budgets().insert(made, 50);
      expect(await atOnce(2, () => budgets().delete(made.tenantId, made.id))).toEqual(
        expect.arrayContaining([true, false]),
      );
      expect(await budgets().insert(made, 50)).toEqual({ ...made, version: 1, isInFile: false });
      expect(await ofTenant(made.tenantId)).toMatchObject([{ version: 1 }]);
    });

    test('an unchanged file undoes no change, and a changed one changes what it names', async () => {
      const entry = aBudget({ madeBy: null, period: 'once' });
      const mergeOne = (one: NewBudget, day: string) => merge([one], [one.tenantId], day);
      await mergeOne(entry, '2030-01-05');
      const [made] = await ofTenant(entry.tenantId);
      expect(made).toMatchObject({ version: 1, isInFile: true, from: '2030-01-05' });
      await budgets().save({ ...(made as Budget), microDollars: 99 }, 1);
      await mergeOne(entry, '2030-02-01');
      expect(await ofTenant(entry.tenantId)).toMatchObject([{ version: 2, microDollars: 99, from: '2030-01-05' }]);
      await mergeOne({ ...entry, microDollars: 7, tell: ['ops@acme.example'] }, '2030-02-02');
      expect(await ofTenant(entry.tenantId)).toMatchObject([
        { version: 3, microDollars: 7, from: '2030-01-05', tell: ['ops@acme.example'] },
      ]);
    });

    test('a budget in the file cannot be deleted; one that the file drops stays, and can be', async () => {
      const [entry, other] = [aBudget({ madeBy: null }), aBudget({ madeBy: null })];
      await merge([entry, other], [entry.tenantId, other.tenantId]);
      expect(await budgets().delete(entry.tenantId, entry.id)).toBe(false);
      await merge([], [entry.tenantId]);
      expect(await ofTenant(entry.tenantId)).toMatchObject([{ isInFile: false, version: 1 }]);
      expect(await budgets().delete(entry.tenantId, entry.id)).toBe(true);
      expect(await budgets().delete(other.tenantId, other.id)).toBe(false);
    });

    test('budgets of the installation belong to no tenant', async () => {
      await merge([aBudget({ tenantId: null, id: 'all', madeBy: null })], [null]);
      expect(await ofTenant(null)).toMatchObject([{ id: 'all', tenantId: null }]);
      await merge([], [null]);
      expect(await budgets().delete(null, 'all')).toBe(true);
    });

    test('a tenant has at most fifty, however they were made: a file with more changes nothing at all', async () => {
      const tenantId = randomId();
      const named = (count: number, from = 0) =>
        Array.from({ length: count }, (_, n) => aBudget({ tenantId, id: `b${from + n}`, madeBy: null }));
      for (const made of named(45)) await budgets().insert(made, 50);
      const tenant = { id: tenantId, name: 'Acme', agents: [], admins: null, keys: [] };
      const refused = tenants().merge([tenant], {
        isPart: true,
        budgets: { budgets: named(7, 44), tenantIds: [null, tenantId], day: '2030-01-05' },
      });
      await expect(refused).rejects.toThrow(TooManyInFile);
      await expect(refused).rejects.toMatchObject({ what: 'budgets', crowded: [{ tenantId, named: 7, others: 44 }] });
      expect((await tenants().all()).some(({ id }) => id === tenantId)).toBe(false);
      expect(await ofTenant(tenantId)).toHaveLength(45);
      // To what it has too many of already, nothing is added.
      for (const made of named(8, 200)) await budgets().insert(made, 100);
      await merge([{ ...(named(1)[0] as NewBudget), microDollars: 7 }], [tenantId]);
      expect((await ofTenant(tenantId)).find(({ id }) => id === 'b0')).toMatchObject({ microDollars: 7 });
      await expect(merge(named(1, 300), [tenantId])).rejects.toThrow(TooManyInFile);
    });
  });

  describe(`what was told of budgets, ${name}`, () => {
    const states = nodesOf(storesOf(nodes, createPostgresBudgetStates));
    const journal = nodesOf(storesOf(nodes, createPostgresJournal));

    function aRecord(changes: Partial<BudgetRecord> = {}): BudgetRecord {
      const tenantId = randomId();
      const of = {
        tenantId,
        budgetId: 'march',
        period: '2030-03',
        account: `tenant:${tenantId}`,
        resetAtMs: DAY_BEGIN,
      };
      const told = { toldPercent: 50, exceededAtMs: null, closedAtMs: null, budgetVersion: 1, version: 1 };
      return { id: `${tenantId}/march/2030-03/tenant:${tenantId}`, ...of, ...told, ...changes };
    }
    const factOf = ({ tenantId }: BudgetRecord): BudgetTold => ({
      type: 'budget.warned',
      atMs: DAY_BEGIN,
      data: {},
      mailTo: [],
      entry: {
        id: rowId(),
        kind: 'fact',
        atMs: DAY_BEGIN,
        node: 'node',
        requestId: null,
        of: { tenantId, target: `${tenantId}/march` },
        code: 'budget.warned',
        detail: { percent: 50 },
      },
    });
    const factsOf = async (tenantId: string | null) =>
      (await journal().list({ kinds: ['fact'], tenants: [tenantId ?? ''] }, undefined, 99)).entries;

    test('of all nodes that save the same threshold one succeeds, and its fact is in the journal once', async () => {
      const record = aRecord();
      expect(await states().load(record)).toBeUndefined();
      const saved = await atOnce(RACERS, () => states().save(record, 0, factOf(record)));
      expect(saved.filter(Boolean)).toHaveLength(1);
      expect(await states().load(record)).toEqual(record);
      expect(await factsOf(record.tenantId)).toHaveLength(1);
      const next = { ...record, toldPercent: 100, exceededAtMs: DAY_BEGIN, version: 2 };
      const again = await atOnce(RACERS, () => states().save(next, 1, factOf(record)));
      expect(again.filter(Boolean)).toHaveLength(1);
      expect(await factsOf(record.tenantId)).toHaveLength(2);
      expect(await states().save(aRecord({ version: 6 }), 5, undefined)).toBe(false);
    });

    test('accounts whose period is over are found until that is recorded, if their budget still exists', async () => {
      const record = aRecord();
      const ids = async () =>
        (await states().over(DAY_BEGIN - HOUR_MS, DAY_BEGIN, 1000))
          .filter(({ tenantId }) => tenantId === record.tenantId)
          .map(({ account }) => account);
      const others = { early: -HOUR_MS, late: 1 };
      for (const [account, laterMs] of Object.entries(others))
        await states().save({ ...record, account, resetAtMs: DAY_BEGIN + laterMs }, 0, undefined);
      await states().save({ ...record, account: 'raised', toldPercent: 0 }, 0, undefined);
      await states().save(record, 0, undefined);
      expect(await ids()).toEqual([]);
      await createPostgresBudgets(nodes()[0]).insert(aBudget({ tenantId: record.tenantId }), 50);
      expect(await ids()).toEqual([record.account]);
      await states().save({ ...record, closedAtMs: DAY_BEGIN, version: 2 }, 1, undefined);
      expect(await states().load(record)).toMatchObject({ closedAtMs: DAY_BEGIN });
      expect(await ids()).toEqual([]);
    });

    test('accounts of a budget in a period are listed, highest threshold first', async () => {
      const record = aRecord();
      for (const [account, toldPercent] of [
        ['a', 50],
        ['b', 80],
        ['c', 50],
      ] as const)
        await states().save({ ...record, account, toldPercent }, 0, undefined);
      await states().save({ ...record, period: '2030-04' }, 0, undefined);
      const listed = await states().ofBudget(record.tenantId, 'march', '2030-03', 2);
      expect(listed.map(({ account }) => account)).toEqual(['b', 'a']);
      expect(listed[0]?.id).toBe(`${record.tenantId}/march/2030-03/b`);
    });
  });

  describe(`what was used of budgets, ${name}`, () => {
    const parts = nodesOf(
      storesOf(nodes, (database) => ({
        use: createPostgresBudgetUse(database),
        dearestOfFour: createPostgresDearest(database, 4),
        ledger: createPostgresLedger(database),
        history: createPostgresVoiceHistory(database),
        calls: createPostgresVoiceCalls(database),
      })),
    );

    async function used(
      at: number,
      tokens: number,
      {
        tenantId,
        subject,
        keyId,
        sessionId,
      }: { tenantId: string; subject: string; keyId: string | null; sessionId: string | null },
    ): Promise<void> {
      const day = new Date(at).toISOString().slice(0, 10);
      const accounts = sharedAccounts(tenantId, keyId);
      const answer = await parts().ledger.record(
        entryOf(subject, { day, tokens, microDollars: tokens * 10, atMs: at, tenantId, sessionId, ...accounts }),
      );
      expect(answer.kind).toBe('counted');
    }

    test('days of subjects and keys include the first and exclude the last', async () => {
      const [tenantId, subject] = [randomId(), randomId()];
      const who = { tenantId, subject, keyId: 'site', sessionId: null };
      for (const [day, tokens] of [
        [-1, 1],
        [0, 2],
        [1, 4],
        [2, 8],
      ] as const)
        await used(DAY_BEGIN + day * 24 * HOUR_MS, tokens, who);
      for (const account of [subject, keyAccount(tenantId, 'site')]) {
        const sums = await Promise.all([
          parts().use.ofDays(account, '2030-01-01', '2030-01-03'),
          parts().use.ofDays(account, '2029-12-01', '2030-01-02'),
          parts().use.ofDays(account, '2030-01-04', '2030-01-01'),
        ]);
        expect(sums.map(({ tokens }) => tokens)).toEqual([6, 3, 0]);
        expect(sums[0]).toEqual({ tokens: 6, microDollars: 60 });
      }
    });

    test('hours are added up by tenant, agent or key, even where a day begins within an hour', async () => {
      const tenantId = randomId();
      const sessions = [
        voiceRecord({ tenantId, agentId: 'support', keyId: 'site' }),
        voiceRecord({ tenantId, agentId: 'sales', keyId: 'shop' }),
      ];
      for (const record of sessions) await parts().history.insert({ record, state: 'engaged' });
      const [support, sales] = sessions.map(({ id, subject, keyId }) => ({ tenantId, subject, keyId, sessionId: id }));
      await used(DAY_BEGIN + HOUR_MS / 2 - 1, 1, support!);
      await used(DAY_BEGIN + HOUR_MS / 2, 2, support!);
      await used(DAY_BEGIN + HOUR_MS, 4, sales!);
      await used(DAY_BEGIN + 2 * HOUR_MS, 8, support!);
      const tokens = async (scope: { agentId?: string; keyId?: string }, fromMs: number, untilMs?: number) =>
        (await parts().use.ofHours({ tenantId, agentId: null, keyId: null, ...scope }, fromMs, untilMs)).tokens;
      expect(await tokens({}, DAY_BEGIN)).toBe(15);
      expect(await tokens({}, DAY_BEGIN + HOUR_MS / 2)).toBe(14);
      expect(await tokens({}, DAY_BEGIN + HOUR_MS / 2, DAY_BEGIN + HOUR_MS)).toBe(2);
      expect(await tokens({}, DAY_BEGIN, DAY_BEGIN + 2 * HOUR_MS)).toBe(7);
      expect(await tokens({ agentId: 'support' }, DAY_BEGIN)).toBe(11);
      expect(await tokens({ keyId: 'shop' }, DAY_BEGIN)).toBe(4);
      const ofAll = await parts().use.ofHours({ tenantId: null, agentId: null, keyId: null }, DAY_BEGIN);
      expect(ofAll.tokens).toBeGreaterThanOrEqual(15);
      const { sessionId, subject } = support!;
      expect(await parts().use.ofSession(sessionId, subject, '2030-01-01')).toEqual({
        used: { tokens: 11, microDollars: 110 },
        ofSubject: { tokens: 11, microDollars: 110 },
      });
      expect((await parts().use.ofSession(sessionId, subject, '2029-12-31')).ofSubject.tokens).toBe(0);
    });

    test('the sessions that cost most are named by their refs, of whom the budget counts, with since when', async () => {
      const tenantId = randomId();
      const sessions = Array.from({ length: 7 }, (_, n) =>
        voiceRecord({ tenantId, agentId: n < 4 ? 'support' : 'sales', keyId: n % 2 === 0 ? 'site' : 'shop' }),
      );
      for (const record of sessions) await parts().history.insert({ record, state: 'engaged' });
      const count = async (n: number, at: number, tokens: number) => {
        const { id, subject, keyId } = sessions[n]!;
        await used(at, tokens, { tenantId, subject, keyId, sessionId: id });
      };
      await count(6, DAY_BEGIN - 1, 1000);
      for (const [n] of sessions.entries()) await count(n, DAY_BEGIN + n, n);
      await count(1, DAY_BEGIN + 10, 50);
      await used(DAY_BEGIN + 11, 999, { tenantId, subject: randomId(), keyId: null, sessionId: null });
      const found = (...named: readonly (readonly [session: number, tokens: number])[]) =>
        named.map(([n, tokens]) => ({ ref: refOf(sessions[n]!.id), microDollars: tokens * 10 }));
      const all = { tenantId, agentId: null, keyId: null };
      const { use, dearestOfFour } = parts();
      expect(await use.dearestSessions(all, DAY_BEGIN)).toEqual({
        sinceMs: DAY_BEGIN,
        sessions: found([1, 51], [6, 6], [5, 5], [4, 4], [3, 3]),
      });
      const of = async (whose: Parameters<typeof use.dearestSessions>[0]) =>
        (await use.dearestSessions(whose, DAY_BEGIN)).sessions;
      expect(await of({ ...all, agentId: 'support' })).toEqual(found([1, 51], [3, 3], [2, 2]));
      expect(await of({ ...all, keyId: 'site' })).toEqual(found([6, 6], [4, 4], [2, 2]));
      expect(await of({ tenantId, subject: sessions[4]!.subject })).toEqual(found([4, 4]));
      expect(await of({ tenantId: null, subject: sessions[4]!.subject })).toEqual(found([4, 4]));
      expect(await of({ tenantId: randomId(), subject: sessions[4]!.subject })).toEqual([]);
      expect(await dearestOfFour(all, DAY_BEGIN)).toEqual({
        sinceMs: DAY_BEGIN + 5,
        sessions: found([1, 50], [6, 6], [5, 5]),
      });
      expect((await use.dearestSessions({ ...all, tenantId: null }, DAY_BEGIN)).sessions).toHaveLength(5);
    });

    test('subjects and sessions over a limit are found if they are live or ended recently', async () => {
      const tenantId = randomId();
      const [live, over] = [voiceRecord({ tenantId }), voiceRecord({ tenantId })];
      for (const record of [live, over]) {
        await parts().history.insert({ record, state: 'engaged' });
        await used(DAY_BEGIN, 10, { tenantId, subject: record.subject, keyId: null, sessionId: record.id });
      }
      const ended = endedRecord(over);
      await parts().history.save([{ record: ended, state: 'ended' }]);
      const endedAtMs = ended.endedAtMs ?? 0;
      const later = endedAtMs + 1;
      const least = { tokens: 10, microDollars: null, microMinutes: null };
      const since = { firstDay: '2030-01-01', fromMs: DAY_BEGIN };
      const atMs = DAY_BEGIN + HOUR_MS;
      const spent = { tokens: 10, microDollars: 100, connectedMs: 0 };
      const { use } = parts();
      expect(await use.subjectsOver(tenantId, since, least, later, atMs)).toEqual([
        { ...spent, subject: live.subject },
      ]);
      const both = await use.subjectsOver(tenantId, since, least, endedAtMs, atMs);
      expect(both.map(({ subject }) => subject)).toEqual([live.subject, over.subject].toSorted());
      const dollars = { ...least, tokens: null, microDollars: 100 };
      const bothIds = await use.sessionsOver(tenantId, dollars, endedAtMs, atMs);
      expect(bothIds.map(({ sessionId }) => sessionId)).toEqual([live.id, over.id].toSorted());
      expect(await use.sessionsOver(tenantId, dollars, later, atMs)).toEqual([{ ...spent, sessionId: live.id }]);
      expect(await use.sessionsOver(tenantId, { ...least, tokens: 11, microDollars: 101 }, later, atMs)).toEqual([]);
      expect(await use.subjectsOver(tenantId, { ...since, firstDay: '2030-01-02' }, least, later, atMs)).toEqual([]);

      // A minute of a call, the first half of which lies before the period.
      const { id: sessionId, subject } = live;
      const opened = { state: 'open', openedAtMs: DAY_BEGIN - 30_000 } as const;
      await parts().calls.insert(call({ tenantId, sessionId, subject, ...opened }), 9);
      const minutes = { tokens: null, microDollars: null, microMinutes: 500_000 };
      const [before, then] = [DAY_BEGIN + 29_999, DAY_BEGIN + 30_000];
      expect(await use.subjectsOver(tenantId, since, minutes, later, before)).toEqual([]);
      expect(await use.subjectsOver(tenantId, since, minutes, later, then)).toEqual([
        { ...spent, subject, connectedMs: 30_000 },
      ]);
      expect(await use.sessionsOver(tenantId, { ...minutes, microMinutes: 1_000_000 }, later, before)).toEqual([]);
      expect(await use.sessionsOver(tenantId, { ...minutes, microMinutes: 1_000_000 }, later, then)).toEqual([
        { ...spent, sessionId, connectedMs: 60_000 },
      ]);
    });

    test.each<[string, Partial<CallRecord>, number, number]>([
      ['that goes on', { state: 'open' }, 50, 1],
      ['that is not open yet', { state: 'creating', openedAtMs: null }, 0, 0],
      ['that is opened later', { state: 'open', openedAtMs: DAY_BEGIN + 60 }, 0, 0],
      ['that began before', { state: 'open', openedAtMs: DAY_BEGIN - 10 }, 50, 1],
      ['that closes since', { state: 'closing', closingAtMs: DAY_BEGIN + 20 }, 20, 0],
      ['that a former version closes', { state: 'closing' }, 50, 1],
      [
        'that closes and is over later',
        { state: 'closed', closingAtMs: DAY_BEGIN + 20, closedAtMs: DAY_BEGIN + 90 },
        20,
        0,
      ],
      ['that was over at once', { state: 'closed', closedAtMs: DAY_BEGIN + 30 }, 30, 0],
      ['that was over before', { state: 'closed', openedAtMs: DAY_BEGIN - 9, closedAtMs: DAY_BEGIN - 1 }, 0, 0],
      ['that was never open', { state: 'closed', openedAtMs: null, closedAtMs: DAY_BEGIN + 30 }, 0, 0],
      ['that its provider has ended', { state: 'open', providerEndsAtMs: DAY_BEGIN + 40 }, 40, 0],
      ['that its provider ends later', { state: 'open', providerEndsAtMs: DAY_BEGIN + 60 }, 50, 1],
    ])('in 50 ms a call %s is connected as long as it was', async (_, changes, ms, calls) => {
      const record = call({ tenantId: randomId(), subject: randomId(), openedAtMs: DAY_BEGIN, ...changes });
      await parts().calls.insert(record, 9);
      const { tenantId, subject, sessionId } = record;
      const scope = { tenantId, agentId: null, keyId: null };
      for (const of of [{ sessionId }, { subject }, scope])
        expect(await parts().use.connected(of, DAY_BEGIN, DAY_BEGIN + 50)).toEqual({ ms, calls });
      const within = (await parts().use.spansOf([sessionId, 's:another'])).map(({ fromMs, untilMs }) =>
        Math.max(0, Math.min(untilMs ?? Infinity, DAY_BEGIN + 50) - Math.max(fromMs, DAY_BEGIN)),
      );
      expect(within.reduce((sum, one) => sum + one, 0)).toBe(ms);
    });

    test('connected time adds up over the calls of a key, an agent, a tenant and the installation, in one span or in several', async () => {
      const [tenantId, subject] = [randomId(), randomId()];
      const keys = [
        ['site', 'support'],
        ['site', 'sales'],
        ['shop', 'support'],
      ] as const;
      for (const [n, [keyId, agentId]] of keys.entries()) {
        const session = voiceRecord({ tenantId, agentId, keyId });
        await parts().history.insert({ record: session, state: 'engaged' });
        const opened = { state: 'open', openedAtMs: DAY_BEGIN + n * 10 } as const;
        await parts().calls.insert(call({ tenantId, subject, keyId, sessionId: session.id, ...opened }), 9);
      }
      const connected = (scope: { keyId?: string; agentId?: string }, fromMs = 0, untilMs = 100) =>
        parts().use.connected(
          { tenantId, agentId: null, keyId: null, ...scope },
          DAY_BEGIN + fromMs,
          DAY_BEGIN + untilMs,
        );
      expect(await connected({})).toEqual({ ms: 100 + 90 + 80, calls: 3 });
      expect(await connected({ keyId: 'site' })).toEqual({ ms: 190, calls: 2 });
      expect(await connected({ agentId: 'support' })).toEqual({ ms: 180, calls: 2 });
      expect(await connected({ keyId: 'shop', agentId: 'sales' })).toEqual({ ms: 0, calls: 0 });
      expect(await parts().use.connected({ subject }, DAY_BEGIN, DAY_BEGIN + 100)).toEqual({ ms: 270, calls: 3 });
      const parted = await Promise.all([connected({}, 0, 15), connected({}, 15, 60), connected({}, 60, 100)]);
      expect(parted.map(({ ms }) => ms)).toEqual([20, 130, 120]);
      const all = { tenantId: null, agentId: null, keyId: null };
      expect((await parts().use.connected(all, DAY_BEGIN, DAY_BEGIN + 100)).ms).toBeGreaterThanOrEqual(270);
    });
  });
}
