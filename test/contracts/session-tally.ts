import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import type { Database } from '../../src/database/database.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { HistoryCounts, HistoryRow, VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { atOnce, endedRecord, nodesOf, voiceRecord, type Make } from './support.ts';

/** Later than everything that any test counts. */
const NEVER_MS = 9_000_000_000_000;
const SESSIONS = 4;

interface Node {
  readonly database: Database;
  readonly history: VoiceHistory;
}

/** @param nodes the connections of two nodes to one migrated database */
export function sessionTallyContract(name: string, nodes: () => readonly [Database, Database]): void {
  const make: Make<Node> = () => {
    const [one, other] = nodes();
    const nodeOf = (database: Database): Node => ({ database, history: createPostgresVoiceHistory(database) });
    return Promise.resolve({ nodes: [nodeOf(one), nodeOf(other)], close: () => Promise.resolve() });
  };

  describe(`the counts of live sessions, ${name}`, () => {
    const node = nodesOf(make);
    const history = (): VoiceHistory => node().history;
    const countsOf = (tenantId: string): Promise<HistoryCounts> => history().counts(NEVER_MS, [tenantId]);

    /** Counts the live sessions themselves in the same way. */
    async function countedOneByOne(tenantId: string): Promise<HistoryCounts> {
      const page = await history().list({ tenantId }, undefined, 100);
      const byState: Record<VoiceState, number> = { engaged: 0, idle: 0, stale: 0, ended: 0 };
      const byCaller = { widget: 0, console: 0 };
      const live = page?.rows.filter(({ state }) => state !== 'ended') ?? [];
      for (const { state, record } of live) {
        byState[state] += 1;
        byCaller[record.caller] += 1;
      }
      return { byState, byCaller, byTenant: live.length === 0 ? {} : { [tenantId]: live.length } };
    }

    const act = fc.record({
      who: fc.nat(SESSIONS - 1),
      what: fc.constantFrom('insert', 'insert', 'save', 'save', 'save', 'end'),
      state: fc.constantFrom<VoiceState>('engaged', 'idle', 'stale'),
      // May be older than the stored version: a save that comes late.
      version: fc.integer({ min: 2, max: 9 }),
    });

    test('match the sessions after any concurrent starts, moves, ends, repeats and late saves on two nodes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(act, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
          async (batches) => {
            const tenantId = randomId();
            const sessions = Array.from({ length: SESSIONS }, (_, n) =>
              voiceRecord({ tenantId, caller: n % 2 === 0 ? 'widget' : 'console' }),
            );
            const rowOf = ({ who, what, state, version }: (typeof batches)[number][number]): HistoryRow => {
              const record = sessions[who] as VoiceRecord;
              if (what === 'end') return { record: endedRecord(record, { version }), state: 'ended' };
              return { record: { ...record, version: what === 'insert' ? 1 : version }, state };
            };
            await Promise.all(
              batches.map(async (batch) => {
                for (const each of batch.filter(({ what }) => what === 'insert')) await history().insert(rowOf(each));
                await history().save(batch.filter(({ what }) => what !== 'insert').map(rowOf));
              }),
            );
            expect(await countsOf(tenantId)).toEqual(await countedOneByOne(tenantId));
          },
        ),
        { numRuns: 15 },
      );
      expect(await history().recount()).toBe(0);
    });

    test('include only the requested tenants', async () => {
      const tenants = [randomId(), randomId(), randomId()];
      for (const tenantId of tenants) await history().insert({ record: voiceRecord({ tenantId }), state: 'idle' });
      const { byState, byTenant } = await history().counts(NEVER_MS, tenants.slice(1));
      expect(byState).toEqual({ engaged: 0, idle: 2, stale: 0, ended: 0 });
      expect(Object.keys(byTenant).toSorted()).toEqual(tenants.slice(1).toSorted());
      expect(await history().counts(0, [])).toMatchObject({ byState: { ended: 0 }, byTenant: {} });
    });

    test('count ended sessions of the requested tenants only', async () => {
      const [tenantId, endedAtMs] = [randomId(), NEVER_MS + 1000];
      for (const tenant of [tenantId, randomId()]) {
        const record = voiceRecord({ tenantId: tenant });
        await history().insert({ record: endedRecord(record, { endedAtMs }), state: 'ended' });
      }
      expect((await history().counts(endedAtMs, [tenantId])).byState.ended).toBe(1);
    });

    test("are not written by saves that change no session's state", async () => {
      const tenantId = randomId();
      const record = voiceRecord({ tenantId });
      await history().insert({ record, state: 'engaged' });
      const versions = async () => {
        const rows = await node().database.run(
          (sql) => sql`select xmin::text, ctid::text from session_tally where tenant_id = ${tenantId}`,
        );
        return [...rows];
      };
      const before = await versions();
      await history().save([{ record: { ...record, version: 2, lastSeenAtMs: NEVER_MS }, state: 'engaged' }]);
      expect((await history().find(record.id))?.version).toBe(2);
      expect(await versions()).toEqual(before);
    });

    test('are corrected where an older build wrote without counting, and a second recount changes nothing', async () => {
      const tenantId = randomId();
      const records = await atOnce(3, () => voiceRecord({ tenantId }));
      for (const record of records) await history().insert({ record, state: 'engaged' });
      const [first] = records;
      await node().database.run((sql) => sql`update voice_session set state = 'stale' where id = ${first?.id ?? ''}`);
      await node().database.run(
        (sql) => sql`insert into session_tally values (7, ${`${tenantId}-gone`}, 'widget', 'idle', 4)`,
      );
      // Two states of the tenant were wrong, and one of a tenant without sessions.
      expect(await history().recount()).toBe(3);
      expect(await countsOf(tenantId)).toEqual(await countedOneByOne(tenantId));
      expect(await countsOf(`${tenantId}-gone`)).toMatchObject({ byState: { idle: 0 }, byTenant: {} });
      expect(await history().recount()).toBe(0);
    });

    test('stay right when sessions change state during a recount', async () => {
      const tenantId = randomId();
      const records = await atOnce(20, () => voiceRecord({ tenantId }));
      const states: VoiceState[] = ['idle', 'engaged', 'stale'];
      await Promise.all([
        ...records.map(async (record, n) => {
          await history().insert({ record, state: 'engaged' });
          for (const [step, state] of states.entries())
            await history().save([{ record: { ...record, version: step + 2 }, state }]);
          if (n % 2 === 0) await history().save([{ record: endedRecord(record, { version: 9 }), state: 'ended' }]);
        }),
        ...Array.from({ length: 12 }, () => history().recount()),
      ]);
      expect(await countsOf(tenantId)).toEqual(await countedOneByOne(tenantId));
    });

    test('are written by concurrent batches that name tenants in any order, without a deadlock', async () => {
      const tenants = Array.from({ length: 12 }, () => randomId());
      const sessions = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const records = tenants.map((tenantId) => voiceRecord({ tenantId }));
          await Promise.all(records.map((record) => history().insert({ record, state: 'engaged' })));
          return records;
        }),
      );
      for (const [step, state] of (['idle', 'stale', 'engaged', 'ended'] as const).entries()) {
        await Promise.all(
          sessions.map((records, n) => {
            const rows = records.map((record) => {
              const moved = state === 'ended' ? endedRecord(record) : record;
              return { record: { ...moved, version: step + 2 }, state };
            });
            return history().save(n % 2 === 0 ? rows : rows.toReversed());
          }),
        );
      }
      expect((await history().counts(NEVER_MS, tenants)).byTenant).toEqual({});
    });
  });
}
