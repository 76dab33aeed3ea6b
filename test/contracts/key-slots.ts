import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { KeyName, KeySlotLimits, KeySlots } from '../../src/stores/key-slots/contract.ts';
import type { VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import { atOnce, DAY_BEGIN, endedRecord, nodesOf, RACERS, voiceRecord, type Make } from './support.ts';

const LEASE_MS = 10_000;

export interface KeySlotsNode {
  readonly slots: KeySlots;
  readonly history: VoiceHistory;
}

export function keySlotsContract(name: string, make: Make<KeySlotsNode>): void {
  describe(`open sessions of a widget key, ${name}`, () => {
    const node = nodesOf(make);
    const at = DAY_BEGIN;
    const aKey = (): KeyName => ({ tenantId: 'acme', keyId: randomId() });
    const takeOf = (key: KeyName, id: string, limits: KeySlotLimits, now = at) =>
      node().slots.take(key, id, limits, now + LEASE_MS, now);
    /** Whether the key had a slot left. */
    const take = async (key: KeyName, id: string, limit: number, now = at) =>
      (await takeOf(key, id, { key: limit }, now)) === undefined;
    const insert = async (key: KeyName, id: string) => {
      const record = voiceRecord({ ...key, id });
      await node().history.insert({ record, state: 'engaged' });
      return record;
    };

    test('exactly as many sessions are admitted as the limit says, independently for each key', async () => {
      const [key, other] = [aKey(), aKey()];
      const limit = async (of: KeyName) => [await take(of, randomId(), 2), await take(of, randomId(), 2)];
      expect([await limit(key), await take(key, randomId(), 2)]).toEqual([[true, true], false]);
      expect(await limit(other)).toEqual([true, true]);
      expect(await take({ ...key, tenantId: 'globex' }, randomId(), 1)).toBe(true);
      expect(await take(aKey(), randomId(), 0)).toBe(false);
    });

    test("a tenant's limit holds over all its keys, and a refusal says whose limit is reached", async () => {
      const tenantId = randomId();
      const [one, other] = [aKey(), aKey()].map((key) => ({ ...key, tenantId })) as [KeyName, KeyName];
      const [first, second] = [randomId(), randomId()];
      expect(await takeOf(one, first, { key: 1, tenant: 2 })).toBeUndefined();
      expect(await takeOf(one, randomId(), { key: 1, tenant: 2 })).toBe('key');
      expect(await takeOf(other, second, { tenant: 2 })).toBeUndefined();
      expect(await takeOf(other, randomId(), { key: 9, tenant: 2 })).toBe('tenant');
      const record = await insert(one, first);
      expect(await node().slots.confirm(one, first, { key: 1, tenant: 2 })).toBe(true);
      // A console user's session has no key.
      await node().history.insert({ record: voiceRecord({ tenantId, keyId: null, id: randomId() }), state: 'engaged' });
      expect(await takeOf(other, randomId(), { tenant: 2 })).toBe('tenant');
      await node().slots.free(second);
      await node().history.save([{ record: endedRecord({ ...record, version: 2 }), state: 'ended' }]);
      const racers = await atOnce(RACERS, (index) =>
        takeOf(index % 2 === 0 ? one : other, randomId(), { key: RACERS, tenant: 2 }),
      );
      expect(racers.filter((full) => full === undefined)).toHaveLength(2);
      expect(await takeOf({ ...one, tenantId: randomId() }, randomId(), { tenant: 1 })).toBeUndefined();
    });

    test('a session that was not opened frees its slot at once; an unknown session frees nothing', async () => {
      const [key, id] = [aKey(), randomId()];
      await take(key, id, 1);
      await node().slots.free(randomId());
      expect(await take(key, randomId(), 1)).toBe(false);
      await node().slots.free(id);
      expect(await take(key, randomId(), 1)).toBe(true);
    });

    test('a session counts once while it is opened, and until the history says that it is idle or over', async () => {
      const key = aKey();
      const ids = [randomId(), randomId()];
      for (const id of ids) expect(await take(key, id, 2)).toBe(true);
      const records = await Promise.all(ids.map((id) => insert(key, id)));
      expect([await take(key, randomId(), 2), await take(key, randomId(), 3)]).toEqual([false, true]);
      for (const id of ids) expect(await node().slots.confirm(key, id, { key: 1 })).toBe(true);
      expect(await take(key, randomId(), 3)).toBe(false);
      const [first, second] = records.map((record) => ({ ...record, version: 2 }));
      if (first === undefined || second === undefined) throw new Error('both were inserted');
      await node().history.save([{ record: first, state: 'idle' }]);
      expect([await take(key, randomId(), 3), await take(key, randomId(), 3)]).toEqual([true, false]);
      await node().history.save([{ record: endedRecord(second), state: 'ended' }]);
      expect([await take(key, randomId(), 3), await take(key, randomId(), 3)]).toEqual([true, false]);
    });

    test('sessions that began before the key had a ceiling are counted', async () => {
      const key = aKey();
      await insert(key, randomId());
      expect([await take(key, randomId(), 1), await take(key, randomId(), 2)]).toEqual([false, true]);
    });

    test('a session that a dead node was opening counts until its lease ends, and cannot begin once others were admitted', async () => {
      const [key, lost] = [aKey(), randomId()];
      await take(key, lost, 1);
      expect(await take(key, randomId(), 1, at + LEASE_MS - 1)).toBe(false);
      expect(await take(key, randomId(), 1, at + LEASE_MS)).toBe(true);
      await insert(key, lost);
      expect(await node().slots.confirm(key, lost, { key: 1 })).toBe(false);
    });

    test('of 64 concurrent takes exactly as many succeed as the limit says, again and again', async () => {
      const key = aKey();
      for (let round = 0; round < 3; round += 1) {
        const ids = Array.from({ length: RACERS }, () => randomId());
        const admitted = await atOnce(RACERS, (index) => take(key, ids[index] as string, 7));
        expect(admitted.filter(Boolean)).toHaveLength(7);
        await atOnce(RACERS, (index) => node().slots.free(ids[index] as string));
      }
    });

    test("concurrent takes of many keys respect each key's exact limit, even when one key is asked with different limits", async () => {
      const keys = Array.from({ length: 4 }, aKey);
      const taken = await atOnce(96, async (index) => {
        const limit = (index % 4) + 1 + (index > 48 ? 1 : 0);
        return { key: index % 4, limit, isIn: await take(keys[index % 4] as KeyName, randomId(), limit) };
      });
      const admitted = keys.map((_, key) => taken.filter((one) => one.key === key && one.isIn).length);
      expect(admitted).toEqual([2, 3, 4, 5]);
    });

    test('concurrent opens and ends never exceed the limit', async () => {
      const key = aKey();
      let open = 0;
      await atOnce(24, async () => {
        for (let round = 0; round < 3; round += 1) {
          const id = randomId();
          if (!(await take(key, id, 4))) continue;
          const record = await insert(key, id);
          expect(await node().slots.confirm(key, id, { key: 1 })).toBe(true);
          open += 1;
          expect(open).toBeLessThanOrEqual(4);
          open -= 1;
          await node().history.save([{ record: endedRecord(record), state: 'ended' }]);
        }
      });
      const last = await atOnce(8, () => take(key, randomId(), 4));
      expect(last.filter(Boolean)).toHaveLength(4);
    });
  });
}
