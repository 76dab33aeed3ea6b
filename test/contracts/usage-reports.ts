import { describe, expect, test } from 'vitest';
import type { UsageBy } from '../../src/protocol/operator/usage.ts';
import type { Database } from '../../src/database/database.ts';
import { randomId, refOf } from '../../src/kernel/ids.ts';
import type { UsageEntry } from '../../src/stores/ledger/contract.ts';
import { createPostgresLedger } from '../../src/stores/ledger/postgres.ts';
import {
  MAX_SCANNED,
  type EntryPosition,
  type UsageAsked,
  type UsagePosition,
  type UsageReport,
  type UsageReports,
} from '../../src/stores/usage-reports/contract.ts';
import { createPostgresUsageReports } from '../../src/stores/usage-reports/postgres.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { entryOf } from './roll-ups.ts';
import { DAY_BEGIN, nodesOf, voiceRecord, type Make } from './support.ts';

const HOUR_MS = 3_600_000;
/** A time that other suites do not use. */
const BEGIN = DAY_BEGIN + 10 * 24 * HOUR_MS;
const [TODAY, TOMORROW] = ['2030-01-11', '2030-01-12'];

/** @param nodes the connections of two nodes to one migrated database */
export function usageReportsContract(name: string, nodes: () => readonly [Database, Database]): void {
  const make: Make<UsageReports> = () => {
    const [one, other] = nodes();
    return Promise.resolve({
      nodes: [createPostgresUsageReports(one), createPostgresUsageReports(other)],
      close: () => Promise.resolve(),
    });
  };

  describe(`usage reports, ${name}`, () => {
    const reports = nodesOf(make);

    async function read(asked: Partial<UsageAsked>): Promise<UsageReport> {
      const report = await reports().read({
        by: 'tenant',
        span: 'day',
        fromDay: TODAY,
        toDay: TOMORROW,
        fromMs: BEGIN,
        toMs: BEGIN + 48 * HOUR_MS,
        tenants: undefined,
        limit: 50,
        ...asked,
      });
      if (typeof report === 'string') throw new Error(report);
      return report;
    }

    const count = (subject: string, changes: Partial<UsageEntry>) =>
      createPostgresLedger(nodes()[0]).record(entryOf(subject, { day: TODAY, atMs: BEGIN, ...changes }));

    /** A tenant with usage of two sessions, and usage that a back end reported without a session. */
    async function usedOf() {
      const tenantId = randomId();
      const sessions = [];
      for (const [keyId, agentId] of [
        ['site', 'support'],
        [null, 'sales'],
      ] as const) {
        const record = voiceRecord({ tenantId, keyId, agentId, caller: keyId === null ? 'console' : 'widget' });
        await createPostgresVoiceHistory(nodes()[0]).insert({ record, state: 'engaged' });
        sessions.push(record);
      }
      const [widget, desk] = sessions as [(typeof sessions)[0], (typeof sessions)[0]];
      await count(widget.subject, { tenantId, sessionId: widget.id, tokens: 100, microDollars: 1 });
      await count(widget.subject, {
        tenantId,
        sessionId: widget.id,
        tokens: 10,
        microDollars: 2,
        atMs: BEGIN + HOUR_MS,
      });
      await count(desk.subject, {
        tenantId,
        sessionId: desk.id,
        tokens: 1,
        microDollars: 7,
        day: TOMORROW,
        atMs: BEGIN + 25 * HOUR_MS,
      });
      await count(widget.subject, { tenantId, tokens: 1000, microDollars: 20, atMs: BEGIN + 2 * HOUR_MS });
      return { tenantId, widget, desk };
    }

    test('entries of a tenant are listed in order of time, page by page, without those of others', async () => {
      const [tenantId, other] = [randomId(), randomId()];
      const atMs = BEGIN + 20 * 24 * HOUR_MS;
      for (const [n, whose] of [tenantId, other, tenantId, other, tenantId].entries())
        await count(randomId(), { tenantId: whose, tokens: n, atMs: atMs + (n % 3) });
      const read: (readonly number[])[] = [];
      let after: EntryPosition | undefined;
      do {
        const { rows, next } = await reports().entries(tenantId, atMs, atMs + 3, after, 2);
        read.push(rows.map(({ tokens }) => tokens));
        after = next;
      } while (after !== undefined);
      expect(read).toEqual([[0, 4], [2]]);
      expect((await reports().entries(tenantId, atMs, atMs + 1, undefined, 9)).rows).toMatchObject([
        { atMs, tokens: 0 },
      ]);
    });

    test('add up by subject, tenant, key, agent and session, with the rest as a row of its own', async () => {
      const { tenantId, widget, desk } = await usedOf();
      const rowsBy = async (by: UsageBy) => {
        const { rows, total, unattributed, next } = await read({ by, tenants: [tenantId] });
        expect({ total, next }).toEqual({ total: { tokens: 1111, microDollars: 30 }, next: undefined });
        return [...rows.map(({ id, tokens, microDollars }) => [id, tokens, microDollars]), unattributed.tokens];
      };
      expect(await rowsBy('subject')).toEqual([[widget.subject, 1110, 23], [desk.subject, 1, 7], 0]);
      expect(await rowsBy('tenant')).toEqual([[tenantId, 1111, 30], 0]);
      expect(await rowsBy('key')).toEqual([[`${tenantId}/site`, 110, 3], 1001]);
      expect(await rowsBy('agent')).toEqual([[`${tenantId}/sales`, 1, 7], [`${tenantId}/support`, 110, 3], 1000]);
      expect(await rowsBy('session')).toEqual([[refOf(desk.id), 1, 7], [refOf(widget.id), 110, 3], 1000]);
    });

    test('list what a session used entry by entry, newest first and page by page', async () => {
      const { widget, desk } = await usedOf();
      const all = await reports().entriesOf(widget.id, undefined, 10);
      expect(all).toMatchObject([
        { tokens: 10, microDollars: 2, atMs: BEGIN + HOUR_MS, callId: null, basis: null, isEstimated: false },
        { tokens: 100, microDollars: 1, atMs: BEGIN },
      ]);
      expect(await reports().entriesOf(widget.id, all[0], 1)).toEqual(all.slice(1));
      expect(await reports().entriesOf(widget.id, all[1], 10)).toEqual([]);
      expect([await reports().countEntries(widget.id), await reports().countEntries(randomId())]).toEqual([2, 0]);
      expect(await reports().countEntries(desk.id)).toBe(1);
    });

    test('list each sum of a day, page by page in the order of their keys', async () => {
      const { tenantId, widget, desk } = await usedOf();
      const none = { tenantId, keyId: '', agentId: '' };
      const rows = [
        { ...none, subject: widget.subject, tokens: 1000, microDollars: 20 },
        { ...none, subject: widget.subject, keyId: 'site', agentId: 'support', tokens: 110, microDollars: 3 },
      ];
      expect(await reports().ofDay(TODAY, [tenantId], undefined, 10)).toEqual(rows);
      const [first] = await reports().ofDay(TODAY, [tenantId], undefined, 1);
      expect(first).toEqual(rows[0]);
      expect(await reports().ofDay(TODAY, [tenantId], first, 1)).toEqual([rows[1]]);
      expect(await reports().ofDay(TODAY, [tenantId], rows[1], 10)).toEqual([]);
      expect(await reports().ofDay(TOMORROW, [tenantId], undefined, 10)).toMatchObject([{ subject: desk.subject }]);
      expect(await reports().ofDay(TOMORROW, [randomId()], undefined, 10)).toEqual([]);
      expect(await reports().ofDay(TODAY, undefined, undefined, 1000)).toEqual(expect.arrayContaining(rows));
    });

    test('name the tenant and key of a row that has just one', async () => {
      const { tenantId, widget, desk } = await usedOf();
      const { rows } = await read({ by: 'subject', tenants: [tenantId] });
      expect(rows).toMatchObject([
        { id: widget.subject, tenantId, keyId: null },
        { id: desk.subject, tenantId, keyId: null },
      ]);
      expect((await read({ by: 'key', tenants: [tenantId] })).rows).toMatchObject([{ tenantId, keyId: 'site' }]);
    });

    test('show usage over time, by days and by hours', async () => {
      const { tenantId } = await usedOf();
      const tenants = [tenantId];
      expect((await read({ tenants })).series).toEqual([
        { at: TODAY, tokens: 1110, microDollars: 23 },
        { at: TOMORROW, tokens: 1, microDollars: 7 },
      ]);
      const hours = [
        { at: BEGIN, tokens: 100, microDollars: 1 },
        { at: BEGIN + HOUR_MS, tokens: 10, microDollars: 2 },
        { at: BEGIN + 2 * HOUR_MS, tokens: 1000, microDollars: 20 },
        { at: BEGIN + 25 * HOUR_MS, tokens: 1, microDollars: 7 },
      ];
      for (const by of ['tenant', 'session'] as const)
        expect((await read({ by, tenants, span: 'hour' })).series).toEqual(hours);
    });

    test('include nothing from before or after their range', async () => {
      const { tenantId } = await usedOf();
      const tenants = [tenantId];
      expect((await read({ tenants, toDay: TODAY })).total.tokens).toBe(1110);
      expect((await read({ tenants, fromDay: TOMORROW })).total.tokens).toBe(1);
      const hour = { fromMs: BEGIN + HOUR_MS, toMs: BEGIN + 2 * HOUR_MS, span: 'hour', tenants } as const;
      for (const by of ['agent', 'session'] as const) expect((await read({ ...hour, by })).total.tokens).toBe(10);
    });

    test('include nothing of other tenants, and nothing at all without tenants', async () => {
      const { tenantId } = await usedOf();
      await usedOf();
      for (const by of ['subject', 'key', 'session'] as const) {
        const { total } = await read({ by, tenants: [tenantId, randomId()] });
        expect(total).toEqual({ tokens: 1111, microDollars: 30 });
        const none = await read({ by, tenants: [] });
        expect(none).toMatchObject({ rows: [], series: [], total: { tokens: 0, microDollars: 0 } });
      }
    });

    test('come in pages, largest usage first, that neither repeat nor omit a row', async () => {
      const tenantId = randomId();
      const subjects = Array.from({ length: 7 }, () => randomId());
      for (const [n, subject] of subjects.entries())
        await count(subject, { tenantId, microDollars: Math.floor(n / 2) });
      const seen: string[] = [];
      let after: UsagePosition | undefined;
      do {
        const page = await read({ by: 'subject', tenants: [tenantId], limit: 3, after });
        expect(page.total.tokens).toBe(70);
        seen.push(...page.rows.map(({ id }) => id));
        after = page.next;
      } while (after !== undefined);
      const most = (id: string): number => Math.floor(subjects.indexOf(id) / 2);
      expect(seen).toEqual(subjects.toSorted((a, b) => most(b) - most(a) || (a < b ? 1 : -1)));
    });

    test('read no more than the maximum number of rows', async () => {
      const tenantId = randomId();
      const day = '2031-05-05';
      const fill = (from: number, to: number) =>
        nodes()[0].run(
          (sql) => sql`
            insert into usage_day select ${day}, n::text, ${tenantId}, '', '', 1, 1 from generate_series(${from}::int, ${to}::int) as n`,
        );
      const asked = { by: 'subject', fromDay: day, toDay: day, tenants: [tenantId], limit: 1 } as const;
      await fill(1, MAX_SCANNED);
      expect((await read(asked)).total.tokens).toBe(MAX_SCANNED);
      await fill(0, 0);
      await expect(read(asked)).rejects.toThrow('too_broad');
      await nodes()[0].run((sql) => sql`delete from usage_day where day = ${day}`);
    });

    test('add up usage since a time, from entries for subjects and from hours for everything else', async () => {
      const { tenantId, widget, desk } = await usedOf();
      const since = async (by: UsageBy, sinceMs: number) =>
        Object.fromEntries((await reports().since(by, sinceMs, [tenantId])) ?? []);
      expect(await since('subject', BEGIN + HOUR_MS)).toEqual({
        [widget.subject]: { tokens: 1010, microDollars: 22 },
        [desk.subject]: { tokens: 1, microDollars: 7 },
      });
      expect(await since('key', BEGIN + HOUR_MS)).toEqual({
        [`${tenantId}/site`]: { tokens: 10, microDollars: 2 },
        '': { tokens: 1001, microDollars: 27 },
      });
    });

    test('give the total usage of sessions, and the callers of subjects', async () => {
      const { widget, desk } = await usedOf();
      const [nobody, nothing] = [randomId(), `s:${randomId()}:1`];
      expect(Object.fromEntries(await reports().ofSessions([widget.id, desk.id, nothing]))).toEqual({
        [widget.id]: { tokens: 110, microDollars: 3 },
        [desk.id]: { tokens: 1, microDollars: 7 },
      });
      expect(await reports().ofSessions([])).toEqual(new Map());
      expect(Object.fromEntries(await reports().callersOf([widget.subject, desk.subject, nobody]))).toEqual({
        [widget.subject]: 'widget',
        [desk.subject]: 'console',
      });
      expect(await reports().callersOf([])).toEqual(new Map());
    });
  });
}
