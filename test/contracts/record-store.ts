import { expect, test } from 'vitest';
import type { HostedRecord, RecordStore } from '../../src/actors/host.ts';
import { atOnce, RACERS } from './support.ts';

/** What the actor host requires of every store; part of the suites of those stores. */
export function recordStoreContract<R extends HostedRecord>(
  store: () => RecordStore<R> & { insert(record: R): unknown },
  fresh: () => R,
  changed: (record: R) => R,
): void {
  test('a record is loaded as it was inserted, on every node', async () => {
    const record = fresh();
    await store().insert(record);
    expect(await store().load(record.id)).toEqual(record);
    expect(await store().load(record.id)).toEqual(record);
  });

  test('an unknown id loads nothing and saves nothing', async () => {
    const record = fresh();
    expect(await store().load(record.id)).toBeUndefined();
    expect(await store().save(changed(record), record.version)).toBe(false);
    expect(await store().load(record.id)).toBeUndefined();
  });

  test('a save over the expected version replaces the record', async () => {
    const record = fresh();
    await store().insert(record);
    expect(await store().save(changed(record), record.version)).toBe(true);
    expect(await store().load(record.id)).toEqual(changed(record));
  });

  test('a save over another version changes nothing', async () => {
    const record = fresh();
    await store().insert(record);
    expect(await store().save({ ...changed(record), version: 7 }, 6)).toBe(false);
    expect(await store().load(record.id)).toEqual(record);
  });

  test('of 64 concurrent saves over one version one succeeds', async () => {
    const record = fresh();
    await store().insert(record);
    const saved = await atOnce(RACERS, () => store().save(changed(record), record.version));
    expect(saved.filter(Boolean)).toHaveLength(1);
    expect(await store().load(record.id)).toEqual(changed(record));
  });

  test('64 racers that load and try again count to 64', async () => {
    const record = fresh();
    await store().insert(record);
    await atOnce(RACERS, async () => {
      for (;;) {
        const present = (await store().load(record.id)) as R;
        if (await store().save({ ...present, version: present.version + 1 }, present.version)) return;
      }
    });
    expect((await store().load(record.id))?.version).toBe(record.version + RACERS);
  });
}
