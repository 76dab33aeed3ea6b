import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { DueAt, VoiceRegistry } from '../../src/stores/voice-registry/contract.ts';
import { histories, play, createModel } from './voice-registry-model.ts';
import { recordStoreContract } from './record-store.ts';
import { atOnce, endedRecord, DAY_BEGIN, nodesOf, RACERS, voiceRecord, type Nodes } from './support.ts';

const DUE_MS = 10_000;
const LEASE_MS = 3_000;

const dueAt: DueAt = ({ endedAtMs, lastActivityAtMs }) => (endedAtMs === null ? lastActivityAtMs + DUE_MS : Infinity);

/** @param make returns an empty registry each time: `size` and `claimDue` look at everything in it */
export function voiceRegistryContract(name: string, make: (dueAt: DueAt) => Promise<Nodes<VoiceRegistry>>): void {
  describe(`the live registry, ${name}`, () => {
    const registry = nodesOf(() => make(dueAt));
    const due = (atMs: number, limit = 10_000) => registry().claimDue(atMs, limit, LEASE_MS);

    recordStoreContract(
      registry,
      () => voiceRecord(),
      (record) => ({ ...record, lastSeenAtMs: DAY_BEGIN + 1, settledAtMs: DAY_BEGIN + 1, version: record.version + 1 }),
    );

    test('of 64 concurrent inserts of one id one succeeds', async () => {
      const record = voiceRecord();
      const inserted = await atOnce(RACERS, (index) => registry().insert({ ...record, upstreamId: `up_${index}` }));
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect((await registry().load(record.id))?.upstreamId).toBe(`up_${inserted.indexOf(true)}`);
    });

    test('a removed record is gone, and removing it again does nothing', async () => {
      const record = voiceRecord();
      const before = await registry().size();
      await registry().insert(record);
      expect(await registry().size()).toBe(before + 1);
      await registry().remove(record.id);
      await registry().remove(record.id);
      expect(await registry().size()).toBe(before);
      expect(await registry().load(record.id)).toBeUndefined();
      expect(await registry().ofSubject(record.subject)).toEqual([]);
      expect(await registry().insert(record)).toBe(true);
    });

    test("a subject's and a key's sessions are those that have not ended", async () => {
      const subject = randomId();
      const keyId = randomId();
      const first = voiceRecord({ subject, keyId });
      const second = voiceRecord({ subject, keyId });
      const elsewhere = voiceRecord({ subject, keyId, tenantId: 'other' });
      const console = voiceRecord({ subject, keyId: null, caller: 'console', loginId: 'auth_1' });
      for (const record of [first, second, elsewhere, console]) await registry().insert(record);
      await registry().insert(endedRecord(voiceRecord({ subject, keyId })));

      const ids = (records: readonly VoiceRecord[]) => records.map(({ id }) => id).sort();
      const ofSubject = async () => (await registry().ofSubject(subject)).sort();
      expect(await ofSubject()).toEqual(ids([first, second, elsewhere, console]));
      expect((await registry().ofKey('acme', keyId)).sort()).toEqual(ids([first, second]));
      expect(await registry().ofKey('other', keyId)).toEqual(ids([elsewhere]));

      await registry().save(endedRecord(first), first.version);
      await registry().remove(elsewhere.id);
      expect(await ofSubject()).toEqual(ids([second, console]));
      expect(await registry().ofKey('acme', keyId)).toEqual(ids([second]));
      expect(await registry().ofKey('other', keyId)).toEqual([]);
    });

    test('a save that loses leaves the indexes alone', async () => {
      const record = voiceRecord();
      await registry().insert(record);
      expect(await registry().save(endedRecord(record), 5)).toBe(false);
      expect(await registry().ofSubject(record.subject)).toEqual([record.id]);
    });

    test('a sweep claims no more than it asks for', async () => {
      for (let made = 0; made < 10; made += 1) await inserted({ lastActivityAtMs: DAY_BEGIN - 10 * DUE_MS });
      const early = DAY_BEGIN - 9 * DUE_MS;
      expect([await due(early, 0), await due(early, 4), await due(early, 4)].map(({ length }) => length)).toEqual([
        0, 4, 4,
      ]);
      expect(await due(early, 4)).toHaveLength(2);
    });

    test('a record is due at its time, claimed once, and due again when the claim lapses', async () => {
      const { id } = await inserted({});
      const at = DAY_BEGIN + DUE_MS;
      expect(await due(at - 1)).not.toContain(id);
      expect(await due(at)).toContain(id);
      expect(await due(at + LEASE_MS - 1)).not.toContain(id);
      expect(await due(at + LEASE_MS)).toContain(id);
    });

    test('a save ends the claim and moves the due time both ways; an end is never due', async () => {
      const record = await inserted({});
      const at = DAY_BEGIN + DUE_MS;
      await due(at);
      const beat = { ...record, lastActivityAtMs: DAY_BEGIN + 1, version: 2 };
      expect(await registry().save(beat, 1)).toBe(true);
      expect(await due(at)).not.toContain(record.id);
      expect(await due(at + 1)).toContain(record.id);
      expect(await registry().save({ ...record, version: 3 }, 2)).toBe(true);
      expect(await due(at)).toContain(record.id);
      expect(await registry().save(endedRecord(record, { version: 4 }), 3)).toBe(true);
      expect(await due(at * 2)).not.toContain(record.id);
    });

    test('concurrent sweeps on two nodes never claim the same record and together claim all', async () => {
      const mine = new Set<string>();
      for (let made = 0; made < 100; made += 1) mine.add((await inserted({ lastActivityAtMs: DAY_BEGIN - DUE_MS })).id);
      const claimed = (await atOnce(RACERS, () => due(DAY_BEGIN, 5))).flat().filter((id) => mine.has(id));
      expect(new Set(claimed).size).toBe(claimed.length);
      expect(claimed).toHaveLength(mine.size);
    });

    test('a claimed record that is postponed is due at the new time and claimed then like any other', async () => {
      const { id } = await inserted({});
      const at = DAY_BEGIN + DUE_MS;
      await due(at);
      await registry().postpone(id, at + 10 * LEASE_MS);
      expect(await due(at + 10 * LEASE_MS - 1)).not.toContain(id);
      expect(await due(at + 10 * LEASE_MS)).toContain(id);
      await registry().remove(id);
      await registry().postpone(id, at);
      expect(await due(at * 2)).not.toContain(id);
    });

    test('a removed record is not due', async () => {
      const { id } = await inserted({});
      await registry().remove(id);
      expect(await due(DAY_BEGIN * 2)).not.toContain(id);
    });

    async function inserted(changes: Partial<VoiceRecord>): Promise<VoiceRecord> {
      const record = voiceRecord(changes);
      await registry().insert(record);
      return record;
    }

    test('any history agrees with a simple model', async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const subject = randomId();
          expect(await play(registry(), subject, history, LEASE_MS)).toEqual(
            await play(createModel(dueAt), subject, history, LEASE_MS),
          );
        }),
        { numRuns: 30 },
      );
    });
  });
}
