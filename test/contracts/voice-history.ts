import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type {
  HistoryFilter,
  HistoryPage,
  HistoryRow,
  HistorySort,
  Position,
  VoiceHistory,
} from '../../src/stores/voice-history/contract.ts';
import { atOnce, DAY_BEGIN, endedRecord, nodesOf, voiceRecord, type Make } from './support.ts';

function row(record: VoiceRecord, state: VoiceState = record.endedAtMs === null ? 'engaged' : 'ended'): HistoryRow {
  return { record, state };
}

function beat(record: VoiceRecord, version = record.version + 1): VoiceRecord {
  const at = DAY_BEGIN + version;
  const wordsDueAtMs = version % 2 === 0 ? 0 : at;
  return {
    ...record,
    lastSeenAtMs: at,
    lastActivityAtMs: at,
    heardUntilMs: at,
    wordsDueAtMs,
    settledAtMs: at,
    version,
  };
}

/** @param make takes the number of rows to examine for a page; undefined for the usual number */
export function voiceHistoryContract(name: string, make: (maxScanned?: number) => Make<VoiceHistory>): void {
  describe(`the history of voice sessions, ${name}`, () => {
    const history = nodesOf(make());
    const narrow = nodesOf(make(100));

    async function inserted(changes: Partial<VoiceRecord> = {}): Promise<VoiceRecord> {
      const record = voiceRecord(changes);
      await history().insert(row(record));
      return record;
    }

    test("a subject's sessions are its own that have not ended", async () => {
      const mine = await inserted();
      const { subject } = mine;
      const second = await inserted({ id: `s:${subject}:${randomId()}`, subject });
      await inserted();
      const over = await inserted({ id: `s:${subject}:${randomId()}`, subject });
      await history().save([row(endedRecord(over))]);
      const found = await history().activeOf(subject);
      expect(found.map(({ id }) => id).toSorted()).toEqual([mine.id, second.id].toSorted());
    });

    test('keeps the last rating, before and after the end, and leaves the record alone', async () => {
      const [rated, over, silent] = [await inserted(), await inserted(), await inserted()];
      await history().rate(rated.id, 2);
      await history().rate(rated.id, 5);
      await history().save([row(endedRecord(over))]);
      await history().rate(over.id, 1);
      await history().save([row(endedRecord(rated))]);
      await history().rate('s:nobody', 3);
      const ratings = await history().ratingsOf([rated.id, over.id, silent.id, 's:nobody']);
      expect(ratings).toEqual(
        new Map([
          [rated.id, 5],
          [over.id, 1],
        ]),
      );
      expect(await history().find(over.id)).toEqual(endedRecord(over));
      expect(await history().ratingsOf([])).toEqual(new Map());
    });

    test("a key's sessions are its own that have not ended", async () => {
      const keyId = randomId();
      const mine = await inserted({ keyId });
      await inserted({ keyId, tenantId: 'another' });
      await inserted({ keyId: null });
      await history().save([row(endedRecord(await inserted({ keyId })))]);
      expect(await history().activeOfKey(mine.tenantId, keyId)).toEqual([mine]);
    });

    test('sessions that ended since a time are listed, latest first and up to a maximum', async () => {
      const since = 4_000_000_000_000;
      const ends: VoiceRecord[] = [];
      for (const laterMs of [-1, 0, 1, 2]) {
        const end = { ...endedRecord(await inserted()), endedAtMs: since + laterMs };
        await history().save([row(end)]);
        ends.unshift(end);
      }
      expect(await history().endedSince(since, 10)).toEqual(ends.slice(0, 3));
      expect(await history().endedSince(since, 2)).toEqual(ends.slice(0, 2));
    });

    test('a record is found as it was inserted; an unknown id is undefined', async () => {
      const console = { caller: 'console', keyId: null, loginId: 'auth_1', agentId: null, named: true } as const;
      for (const changes of [{}, console]) {
        const record = await inserted(changes);
        expect(await history().find(record.id)).toEqual(record);
      }
      expect(await history().find(randomId())).toBeUndefined();
    });

    test('inserting an id twice changes nothing, even concurrently', async () => {
      const record = voiceRecord();
      await atOnce(20, () => history().insert(row(record)));
      await history().insert(row({ ...record, upstreamId: 'other', version: 9 }));
      expect(await history().find(record.id)).toEqual(record);
    });

    test('an end is saved whatever its version, because an end wins, and is found among others', async () => {
      const record = await inserted();
      await history().save([row(beat(record, 9))]);
      const over = { ...endedRecord(record), version: 2 };
      expect((await history().save([row(over)])).ended).toEqual([record.id]);
      expect((await history().save([row(beat(record, 10))])).ended).toEqual([]);
      const live = await inserted();
      expect(await history().endedAmong([record.id, live.id])).toEqual([{ ...over, version: 9 }]);
    });

    test('saves newer versions, ignores older and equal ones and unknown ids', async () => {
      const record = await inserted();
      expect((await history().save([])).ended).toEqual([]);
      expect((await history().save([row(beat(record, 5)), row(beat(voiceRecord()))])).ended).toEqual([]);
      await history().save([row({ ...beat(record, 5), lastSeenAtMs: 0 })]);
      await history().save([row(beat(record, 4))]);
      expect(await history().find(record.id)).toEqual(beat(record, 5));
    });

    test('of several versions in one batch the newest wins', async () => {
      const record = await inserted();
      await history().save([row(beat(record, 2)), row(beat(record, 4)), row(beat(record, 3))]);
      expect(await history().find(record.id)).toEqual(beat(record, 4));
    });

    test('an end is reported once and nothing changes after it', async () => {
      const record = await inserted();
      const ended = endedRecord(record);
      expect((await history().save([row(ended), row(ended)])).ended).toEqual([record.id]);
      expect((await history().save([row(ended)])).ended).toEqual([]);
      expect((await history().save([row(endedRecord(record, { version: 8, endReason: 'abandoned' }))])).ended).toEqual(
        [],
      );
      expect((await history().save([row(beat(record, 9))])).ended).toEqual([]);
      expect(await history().find(record.id)).toEqual(ended);
    });

    test('of concurrent ends with different reasons one is reported, and that one holds', async () => {
      const records = await atOnce(10, () => inserted());
      const reasons = ['closed_by_client', 'closed_by_operator', 'key_revoked', 'quota_exceeded'] as const;
      const told = await atOnce(40, (index) => {
        const endReason = reasons[index % 4] ?? 'abandoned';
        // Reverses every other batch: overlapping batches must not deadlock.
        const batch = records.map((record) => row(endedRecord(record, { endReason })));
        return history().save(index % 2 === 0 ? batch : batch.toReversed());
      });
      expect(told.flatMap(({ ended }) => ended).sort()).toEqual(records.map(({ id }) => id).sort());
    });

    test('active sessions are those that have not ended, in the order of their ids, page by page', async () => {
      const subject = randomId();
      const names = ['a', 'B', 'c-', 'C_', 'd', 'D'];
      for (const each of names) await inserted({ subject, id: `s:${subject}:${each}` });
      await history().save([row(endedRecord(voiceRecord({ id: `s:${subject}:c-` })))]);
      const ids: string[] = [];
      for (let after = `s:${subject}:`; ; after = ids.at(-1) ?? '') {
        const page = await history().active(after, 2);
        const mine = page.filter((record) => record.subject === subject);
        ids.push(...mine.map(({ id }) => id));
        if (mine.length < 2) break;
      }
      expect(ids).toEqual(['B', 'C_', 'D', 'a', 'd'].map((each) => `s:${subject}:${each}`));
    });

    test('lists newest first, page by page, without a gap or a repetition while sessions start', async () => {
      const tenantId = randomId();
      const made = await atOnce(25, (index) => inserted({ tenantId, startedAtMs: DAY_BEGIN + Math.floor(index / 4) }));
      const seen: HistoryRow[] = [];
      let after: Position | undefined;
      do {
        const page = await history().list({ tenantId }, after, 7);
        seen.push(...page.rows);
        after = page.next;
        await inserted({ tenantId, startedAtMs: DAY_BEGIN + 100 });
      } while (after !== undefined);
      const order = (a: VoiceRecord, b: VoiceRecord) => b.startedAtMs - a.startedAtMs || (a.id < b.id ? 1 : -1);
      expect(seen).toEqual(made.sort(order).map((record) => row(record)));
    });

    test('a last page that is exactly full has no page after it', async () => {
      const tenantId = randomId();
      await atOnce(4, () => inserted({ tenantId }));
      const first = await history().list({ tenantId }, undefined, 2);
      const second = await history().list({ tenantId }, first.next, 2);
      expect(first.next).toEqual({ atMs: DAY_BEGIN, id: first.rows[1]?.record.id });
      expect(second.rows).toHaveLength(2);
      expect(second.next).toBeUndefined();
      const none = { rows: [], next: undefined, isPartial: false };
      expect(await history().list({ tenantId: randomId() }, undefined, 2)).toEqual(none);
    });

    test('lists oldest first, and by the last end, page by page', async () => {
      const tenantId = randomId();
      const ids: string[] = [];
      for (const [n, endsAfter] of [5, undefined, 2, 9, 2].entries()) {
        const record = await inserted({ tenantId, startedAtMs: DAY_BEGIN + Math.floor(n / 2) });
        ids.push(record.id);
        if (endsAfter !== undefined)
          await history().save([row(endedRecord(record, { endedAtMs: DAY_BEGIN + endsAfter }))]);
      }
      const all = async (sort: HistorySort, filter: HistoryFilter = {}): Promise<number[]> => {
        const seen: string[] = [];
        let after: Position | undefined;
        do {
          const page = await history().list({ tenantId, ...filter }, after, 2, sort);
          seen.push(...page.rows.map(({ record }) => record.id));
          after = page.next;
        } while (after !== undefined);
        return seen.map((id) => ids.indexOf(id));
      };
      const pairs = ([a = 0, b = 0]: number[]) => ((ids[a] ?? '') < (ids[b] ?? '') ? [a, b] : [b, a]);
      expect(await all('startedAt')).toEqual([...pairs([0, 1]), ...pairs([2, 3]), 4]);
      expect(await all('-startedAt')).toEqual((await all('startedAt')).toReversed());
      expect(await all('-endedAt')).toEqual([3, 0, ...pairs([2, 4]).toReversed()]);
      expect(await all('-endedAt', { states: ['engaged'] })).toEqual([]);
    });

    test('lists by several states, reasons, a key, and a span of starts', async () => {
      const tenantId = randomId();
      const idle = row(await inserted({ tenantId, keyId: 'shop', startedAtMs: DAY_BEGIN + 1 }), 'idle');
      const stale = row(await inserted({ tenantId, startedAtMs: DAY_BEGIN + 2 }), 'stale');
      const later = [idle, stale].map((one) => ({ ...one, record: beat(one.record) }));
      const revoked = row(endedRecord(await inserted({ tenantId }), { endReason: 'key_revoked' }));
      const closed = row(endedRecord(await inserted({ tenantId, startedAtMs: DAY_BEGIN + 3 })));
      await history().save([...later, revoked, closed]);
      const found = async (filter: HistoryFilter) =>
        (await history().list({ tenantId, ...filter }, undefined, 10)).rows.map(({ state }) => state).toSorted();
      expect(await found({ states: ['idle', 'stale'] })).toEqual(['idle', 'stale']);
      expect(await found({ states: ['idle', 'ended'] })).toEqual(['ended', 'ended', 'idle']);
      expect(await found({ reasons: ['key_revoked'] })).toEqual(['ended']);
      expect(await found({ reasons: ['key_revoked', 'closed_by_client'] })).toEqual(['ended', 'ended']);
      expect(await found({ reasons: ['abandoned'] })).toEqual([]);
      expect(await found({ keyId: 'shop' })).toEqual(['idle']);
      expect(await found({ keyId: 'shop', states: ['stale'] })).toEqual([]);
      expect(await found({ fromMs: DAY_BEGIN + 1, toMs: DAY_BEGIN + 3 })).toEqual(['idle', 'stale']);
      expect(await found({ fromMs: DAY_BEGIN + 4 })).toEqual([]);
    });

    test('lists only sessions of the given tenants', async () => {
      const [one, other] = [randomId(), randomId()];
      const mine = await inserted({ tenantId: one });
      await inserted({ tenantId: other });
      const found = async (filter: HistoryFilter) =>
        (await history().list(filter, undefined, 10)).rows.map(({ record }) => record.id);
      expect(await found({ tenants: [one] })).toEqual([mine.id]);
      expect(await found({ tenants: [one, other] })).toHaveLength(2);
      expect(await found({ tenants: [one], tenantId: other })).toEqual([]);
      expect(await found({ tenants: [] })).toEqual([]);
    });

    test('examines a limited number of rows per page, says so, and continues from there', async () => {
      const tenantId = randomId();
      const oldest = await inserted({ tenantId, caller: 'console', keyId: null });
      await atOnce(100, (n) => inserted({ tenantId, startedAtMs: DAY_BEGIN + 1 + n }));
      const filter = { tenantId, caller: 'console' } as const;
      const first = await narrow().list(filter, undefined, 5);
      expect(first).toMatchObject({ rows: [], isPartial: true, next: { atMs: DAY_BEGIN + 1 } });
      const second = await narrow().list(filter, first.next, 5);
      expect(second).toEqual({ rows: [row(oldest)], next: undefined, isPartial: false });
      const full = await narrow().list({ tenantId }, undefined, 5);
      expect([full.rows.length, full.isPartial]).toEqual([5, false]);
    });

    test.each([
      ['-startedAt', 5_000_000_000_000],
      ['startedAt', 6_000_000_000_000],
      ['-endedAt', 7_000_000_000_000],
    ] as const)('examines no rows of tenants that may not be seen, by %s', async (sort, fromMs) => {
      const [mine, foreign, subject] = [randomId(), randomId(), randomId()];
      const nth = (n: number, tenantId: string): HistoryRow => {
        const atMs = sort === 'startedAt' ? fromMs + n : fromMs + 200 - n;
        const record = { ...voiceRecord({ tenantId, subject }), startedAtMs: atMs };
        return row(sort === '-endedAt' ? { ...endedRecord(record), endedAtMs: atMs } : record);
      };
      const own = [0, 98, 200].map((n) => nth(n, mine));
      const others = Array.from({ length: 120 }, (_, n) => nth(n, foreign));
      await Promise.all([...own, ...others].map((one) => history().insert(one)));
      const whole: HistoryPage = { rows: own, next: undefined, isPartial: false };
      const list = (filter: HistoryFilter, limit = 5, after?: Position) =>
        narrow().list({ fromMs, ...filter }, after, limit, sort);
      expect(await list({ tenants: [mine] })).toEqual(whole);
      expect(await list({ tenants: [mine], subject })).toEqual(whole);
      const several = { tenants: [mine, randomId()] };
      expect(await list(several)).toEqual(whole);
      expect(await list({ ...several, subject })).toEqual(whole);
      expect(await list({ ...several, tenantId: mine, subject })).toEqual(whole);
      const first = await list(several, 2);
      expect(first.rows).toEqual(own.slice(0, 2));
      expect(await list(several, 2, first.next)).toEqual({ ...whole, rows: own.slice(2) });
    });

    test('examines a limited number of rows of several tenants per page, says so, and continues from there', async () => {
      const tenants = [randomId(), randomId()];
      const oldest = await inserted({ tenantId: tenants[0], caller: 'console', keyId: null });
      await atOnce(100, (n) => inserted({ tenantId: tenants[n % 2], startedAtMs: DAY_BEGIN + 1 + n }));
      const filter = { tenants, caller: 'console' } as const;
      const first = await narrow().list(filter, undefined, 5);
      expect(first).toMatchObject({ rows: [], isPartial: true, next: { atMs: DAY_BEGIN + 2 } });
      const second = await narrow().list(filter, first.next, 5);
      expect(second).toEqual({ rows: [row(oldest)], next: undefined, isPartial: false });
    });

    test('continues even when the last row examined is a match', async () => {
      const fromMs = 8_000_000_000_000;
      const own = { tenantId: randomId(), keyId: randomId() };
      const wanted = [2, 1].map((n) => row(voiceRecord({ ...own, startedAtMs: fromMs + n })));
      const others = Array.from({ length: 99 }, (_, n) => row(voiceRecord({ startedAtMs: fromMs + n + 3 })));
      await Promise.all([...wanted, ...others].map((one) => history().insert(one)));
      const filter = { keyId: own.keyId, fromMs };
      const first = await narrow().list(filter, undefined, 5);
      expect(first).toMatchObject({ rows: [wanted[0]], isPartial: true });
      expect((await narrow().list(filter, first.next, 5)).rows).toEqual([wanted[1]]);
    });

    test('lists the stale sessions that have been silent longest, and no others', async () => {
      const tenantId = randomId();
      const ids: string[] = [];
      for (const [n, silentSinceMs] of [3, 1, 2, 1].entries()) {
        const record = await inserted({ tenantId });
        ids.push(record.id);
        const quiet = { ...record, lastActivityAtMs: DAY_BEGIN - 100 + silentSinceMs, version: 2 };
        await history().save([row(quiet, n === 3 ? 'idle' : 'stale')]);
      }
      const first = await history().silentSince({ tenantId }, DAY_BEGIN, undefined, 2);
      expect(first.rows.map(({ record }) => ids.indexOf(record.id))).toEqual([1, 2]);
      const second = await history().silentSince({ tenantId }, DAY_BEGIN, first.next, 2);
      expect(second.rows.map(({ record }) => ids.indexOf(record.id))).toEqual([0]);
      expect(second.next).toBeUndefined();
      expect((await history().silentSince({ tenantId }, DAY_BEGIN - 98, undefined, 5)).rows).toHaveLength(1);
      expect((await history().silentSince({ tenantId, caller: 'console' }, DAY_BEGIN, undefined, 5)).rows).toEqual([]);
    });

    test('lists the sessions that end soonest because no words come, page by page, and no others', async () => {
      const tenantId = randomId();
      const ids: string[] = [];
      for (const dueMs of [3, 1, 2, 4]) {
        const record = await inserted({ tenantId, wordsDueAtMs: DAY_BEGIN + dueMs });
        ids.push(record.id);
      }
      for (const over of [{ wordsDueAtMs: 0 }, endedRecord(voiceRecord())]) {
        const { wordsDueAtMs, endedAtMs, endReason } = { endedAtMs: null, endReason: null, ...over };
        const record = await inserted({ tenantId, wordsDueAtMs: DAY_BEGIN + 1 });
        const changed = { ...record, wordsDueAtMs, endedAtMs, endReason, version: 2 };
        await history().save([row(changed)]);
      }
      const before = (filter: HistoryFilter, after?: Position) =>
        history().wordsDueBefore(filter, DAY_BEGIN + 4, after, 2);
      const first = await before({ tenantId });
      expect(first.rows.map(({ record }) => ids.indexOf(record.id))).toEqual([1, 2]);
      const second = await before({ tenantId }, first.next);
      expect(second.rows.map(({ record }) => ids.indexOf(record.id))).toEqual([0]);
      expect(second.next).toBeUndefined();
      expect((await before({ tenantId, caller: 'console' })).rows).toEqual([]);
    });

    test('finds sessions by the beginning of their ids, byte by byte, together with other filters', async () => {
      const subject = randomId();
      const ids = ['aaaaaaa', 'aaaaaaa-', 'aaaaaaaz', 'aaaaaaaZ_', 'aaaaaab', 'AAAAAAA', 'aaaaaa'].map(
        (tail) => `s:${subject}:${tail}`,
      );
      for (const id of ids) await inserted({ id, subject });
      const prefix = `s:${subject}:aaaaaaa`;
      const found = async (filter: HistoryFilter, limit = 10) =>
        (await history().list(filter, undefined, limit)).rows.map(({ record }) => record.id).toSorted();
      expect(await found({ idPrefix: prefix })).toEqual(ids.slice(0, 4).toSorted());
      expect(await found({ idPrefix: prefix }, 2)).toHaveLength(2);
      expect(await found({ idPrefix: `${prefix}z` })).toEqual([`${prefix}z`]);
      expect(await found({ idPrefix: prefix, states: ['idle'] })).toEqual([]);
      expect(await found({ idPrefix: `s:${randomId()}:` })).toEqual([]);
      expect(await found({ idPrefix: `s:${subject}:%` })).toEqual([]);
    });

    test('finds the sessions of a subject, newest first, also for one tenant only', async () => {
      const [subject, tenantId] = [randomId(), randomId()];
      const startedAtMs = (n: number): { startedAtMs: number } => ({ startedAtMs: DAY_BEGIN + n });
      const first = await inserted({ subject, tenantId, ...startedAtMs(1) });
      const second = await inserted({ subject, ...startedAtMs(2) });
      await inserted({ tenantId });
      const found = async (filter: HistoryFilter) =>
        (await history().list(filter, undefined, 10)).rows.map(({ record }) => record.id);
      expect(await found({ subject })).toEqual([second.id, first.id]);
      expect(await found({ subject, tenants: [tenantId] })).toEqual([first.id]);
      expect(await found({ subject, tenants: [] })).toEqual([]);
      expect(await found({ subject, idPrefix: second.id })).toEqual([second.id]);
      expect(await history().countOpen({ subject })).toMatchObject({ matched: 2 });
    });

    test('filters by state, tenant, agent and caller, alone and together', async () => {
      const tenantId = randomId();
      const engaged = row(await inserted({ tenantId }));
      const idle = row(await inserted({ tenantId, agentId: 'sales' }), 'idle');
      const ended = row(endedRecord(await inserted({ tenantId, caller: 'console', keyId: null })));
      const later = { ...idle, record: beat(idle.record) };
      await history().save([later, ended]);
      const list = async (filter: HistoryFilter) => (await history().list({ tenantId, ...filter }, undefined, 10)).rows;
      expect(await list({})).toHaveLength(3);
      expect(await list({ states: ['engaged'] })).toEqual([engaged]);
      expect(await list({ states: ['idle'] })).toEqual([later]);
      expect(await list({ states: ['stale'] })).toEqual([]);
      expect(await list({ states: ['ended'] })).toEqual([ended]);
      expect(await list({ agentId: 'sales' })).toEqual([later]);
      expect(await list({ caller: 'console' })).toEqual([ended]);
      expect(await list({ caller: 'widget', agentId: 'support', states: ['engaged'] })).toEqual([engaged]);
      expect(await list({ caller: 'console', states: ['idle'] })).toEqual([]);
    });

    test('lists the newest sessions of some subjects, and those with one name at the provider', async () => {
      const upstreamId = randomId();
      const first = await inserted({ upstreamId });
      const second = await inserted({ upstreamId, startedAtMs: DAY_BEGIN + 1 });
      await inserted();
      const subjects = [first.subject, second.subject, randomId()];
      expect(await history().newestOf(subjects, 5)).toEqual([row(second), row(first)]);
      expect(await history().newestOf(subjects, 1)).toEqual([row(second)]);
      expect(await history().newestOf([], 5)).toEqual([]);
      expect(await history().ofUpstream(upstreamId, 5)).toEqual([row(second), row(first)]);
      expect(await history().ofUpstream(randomId(), 5)).toEqual([]);
    });

    test('counts the open sessions of each widget key', async () => {
      const [one, other] = [randomId(), randomId()];
      for (const keyId of ['a', 'a', 'b', null]) await inserted({ tenantId: one, keyId });
      await inserted({ tenantId: other, keyId: 'a' });
      await history().save([row(endedRecord(await inserted({ tenantId: one, keyId: 'a' })))]);
      const ofOne = [
        { tenantId: one, keyId: 'a', sessions: 2 },
        { tenantId: one, keyId: 'b', sessions: 1 },
      ];
      expect(await history().countOpenByKey([one])).toEqual(ofOne);
      expect(await history().countOpenByKey(undefined)).toEqual(expect.arrayContaining(ofOne));
      expect(await history().countOpenByKey([])).toEqual([]);
    });

    test('counts the open sessions of a filter, by state and tenant', async () => {
      const [one, other] = [randomId(), randomId()];
      const first = await inserted({ tenantId: one });
      await inserted({ tenantId: other, startedAtMs: DAY_BEGIN + 5, keyId: null, caller: 'console' });
      await history().save([row(beat(await inserted({ tenantId: one })), 'stale')]);
      await history().save([row(endedRecord(await inserted({ tenantId: one })))]);
      const tenants = [one, other];
      const byState = { engaged: 0, idle: 0, stale: 0 };
      const counted = async (filter: HistoryFilter) => history().countOpen({ tenants, ...filter });
      expect(await counted({})).toEqual({
        matched: 3,
        byState: { engaged: 2, idle: 0, stale: 1 },
        byTenant: { [one]: 2, [other]: 1 },
      });
      expect(await counted({ tenantId: other })).toMatchObject({ matched: 1, byTenant: { [other]: 1 } });
      expect(await counted({ tenantId: randomId() })).toEqual({ matched: 0, byState, byTenant: {} });
      expect(await counted({ states: ['stale'] })).toMatchObject({ matched: 1, byState: { ...byState, stale: 1 } });
      expect(await counted({ states: [] })).toMatchObject({ matched: 0 });
      expect(await counted({ caller: 'console' })).toMatchObject({ matched: 1 });
      expect(await counted({ fromMs: DAY_BEGIN + 1 })).toMatchObject({ matched: 1 });
      expect(await counted({ toMs: DAY_BEGIN + 1 })).toMatchObject({ matched: 2 });
      expect(await counted({ idPrefix: first.id.slice(0, 30) })).toMatchObject({ matched: 1 });
    });

    test('counts live sessions by state, caller and tenant, and ended ones since a time by state alone', async () => {
      const since = DAY_BEGIN + 1_000_000;
      const before = await history().counts(since);
      const tenantId = '__proto__';
      await inserted({ tenantId });
      await inserted({ tenantId, caller: 'console', keyId: null });
      await history().save([row(beat(await inserted({ tenantId })), 'stale')]);
      for (const endedAtMs of [since - 1, since]) {
        await history().save([row(endedRecord(await inserted({ tenantId }), { endedAtMs }))]);
      }
      const after = await history().counts(since);
      expect(after.byState).toEqual({
        ...before.byState,
        engaged: before.byState.engaged + 2,
        stale: before.byState.stale + 1,
        ended: before.byState.ended + 1,
      });
      expect(after.byCaller).toEqual({ widget: before.byCaller.widget + 2, console: before.byCaller.console + 1 });
      expect(Object.getOwnPropertyDescriptor(after.byTenant, tenantId)?.value).toBe(3);
    });

    test('counts what ends soon: engaged sessions by their begin or by when words are due, stale ones by their last activity', async () => {
      const tenantId = randomId();
      const engagedSinceMs = DAY_BEGIN + 1000;
      const staleSinceMs = DAY_BEGIN + 500;
      const wordsDueByMs = DAY_BEGIN + 5000;
      for (const startedAtMs of [engagedSinceMs - 1, engagedSinceMs, engagedSinceMs + 1]) {
        await inserted({ tenantId, startedAtMs });
        await history().save([row(endedRecord(await inserted({ tenantId, startedAtMs })))]);
        await history().save([row(beat(await inserted({ tenantId, startedAtMs })), 'idle')]);
      }
      for (const lastActivityAtMs of [staleSinceMs, staleSinceMs + 1])
        await history().save([row({ ...(await inserted({ tenantId })), lastActivityAtMs, version: 2 }, 'stale')]);
      for (const wordsDueAtMs of [0, wordsDueByMs, wordsDueByMs + 1]) {
        await inserted({ tenantId, startedAtMs: engagedSinceMs + 1, wordsDueAtMs });
        await history().save([row(endedRecord(await inserted({ tenantId, wordsDueAtMs })))]);
      }
      // Matches by its start and by its words, but counts once.
      await inserted({ tenantId, startedAtMs: engagedSinceMs, wordsDueAtMs: wordsDueByMs });
      const by = { engagedSinceMs, staleSinceMs, wordsDueByMs };
      expect(await history().countEnding({ ...by, tenants: [tenantId] })).toBe(5);
      expect(await history().countEnding({ ...by, tenants: [] })).toBe(0);
      expect(await history().countEnding(by)).toBeGreaterThanOrEqual(5);
    });

    test('after any concurrent batches on two nodes the newest version stays, and each end was reported once', async () => {
      const change = fc.record({ who: fc.nat(4), version: fc.integer({ min: 2, max: 12 }) });
      const ends = fc.array(fc.integer({ min: 2, max: 14 }), { minLength: 5, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 8 }),
          ends,
          async (batches, lastVersions) => {
            const records = await atOnce(5, () => inserted());
            // A session ends with its last version.
            const at = (who: number, version: number): VoiceRecord => {
              const last = lastVersions[who] ?? 0;
              const record = beat(records[who] as VoiceRecord, Math.min(version, last));
              return version < last ? record : endedRecord(record, { version: last });
            };
            const saves = batches.map((batch) => batch.map(({ who, version }) => at(who, version)));
            const told = await Promise.all(saves.map((batch) => history().save(batch.map((record) => row(record)))));
            const newest = records.map((record) =>
              [record, ...saves.flat().filter(({ id }) => id === record.id)].reduce((a, b) =>
                b.version > a.version ? b : a,
              ),
            );
            expect(told.flatMap(({ ended }) => ended).sort()).toEqual(
              newest
                .filter((each) => each.endedAtMs !== null)
                .map(({ id }) => id)
                .sort(),
            );
            expect(await Promise.all(records.map(({ id }) => history().find(id)))).toEqual(newest);
          },
        ),
        { numRuns: 40 },
      );
    });
  });
}
