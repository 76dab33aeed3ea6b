import { describe, expect, test } from 'vitest';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import {
  createInProcessBus,
  createInProcessRecaps,
  createInProcessSlots,
  createInProcessWindows,
} from '../../src/stores/in-process.ts';
import { createInProcessCounters, createInProcessKeySlots } from '../../src/stores/replay-memory.ts';
import { createInProcessVoiceRegistry } from '../../src/stores/voice-registry/in-process.ts';
import type { KeyName } from '../../src/stores/key-slots/contract.ts';
import { opened } from '../machines/voice-session-support.ts';
import { busContract } from './bus.ts';
import { countersContract } from './counters.ts';
import { recapsContract } from './recaps.ts';
import { leasesContract } from './slots.ts';
import { DAY_BEGIN, type Nodes } from './support.ts';
import { voiceRegistryContract } from './voice-registry.ts';
import { windowsContract } from './windows.ts';

voiceRegistryContract('in process', (dueAt) => alone(createInProcessVoiceRegistry(dueAt)));
leasesContract('concurrency slots, in process', () => alone(createInProcessSlots()));
windowsContract('in process', () => alone(createInProcessWindows()));
busContract('in process', () => alone(createInProcessBus(() => {})));
countersContract('in process', () => alone(createInProcessCounters()));
recapsContract('in process', () => alone(createInProcessRecaps()));

function alone<T>(engine: T): Promise<Nodes<T>> {
  return Promise.resolve({ nodes: [engine, engine], close: () => Promise.resolve() });
}

test('the bus of one process delivers before publish returns and reports bad listeners', () => {
  const reported: unknown[] = [];
  const bus = createInProcessBus((error) => reported.push(error));
  const fault = new Error('a bad listener');
  let calls = 0;
  bus.subscribe(() => {
    throw fault;
  });
  bus.subscribe(() => (calls += 1));
  bus.publish({ type: 'tenants.changed' });
  expect(calls).toBe(1);
  expect(reported).toEqual([fault]);
});

test('key slots count the sessions of a key, and those of all keys of its tenant, until they lapse or end', async () => {
  const slots = createInProcessKeySlots(createInProcessSlots());
  const [site, shop] = ['site', 'shop'].map((keyId) => ({ tenantId: 'acme', keyId })) as [KeyName, KeyName];
  const limits = { key: 1, tenant: 2 };
  const take = (key: KeyName, id: string, atMs: number) => slots.take(key, id, limits, atMs + 10, atMs);
  expect(await take(site, 'a', DAY_BEGIN)).toBeUndefined();
  expect(await take(site, 'b', DAY_BEGIN)).toBe('key');
  slots.hold(shop, 'c', DAY_BEGIN + 5);
  expect(await take({ ...shop, keyId: 'third' }, 'd', DAY_BEGIN)).toBe('tenant');
  expect(await take(shop, 'd', DAY_BEGIN + 5)).toBeUndefined();
  slots.end(site, 'a');
  expect(await take(site, 'b', DAY_BEGIN + 6)).toBeUndefined();
});

test('recaps that lapsed are forgotten when the next one is kept', () => {
  const recaps = createInProcessRecaps();
  recaps.keep('a', 'first', DAY_BEGIN + 10, DAY_BEGIN);
  expect(recaps.find('a', DAY_BEGIN + 9)).toBe('first');
  expect(recaps.find('a', DAY_BEGIN + 10)).toBeUndefined();
  recaps.keep('b', 'second', DAY_BEGIN + 20, DAY_BEGIN + 10);
  expect(recaps.find('a', DAY_BEGIN)).toBeUndefined();
  expect(recaps.find('b', DAY_BEGIN)).toBe('second');
});

test('windows with too many keys let newcomers pass and keep the others limited, for this minute only', () => {
  const windows = createInProcessWindows(2);
  const at = DAY_BEGIN;
  windows.take('a', 1, at);
  windows.take('b', 5, at);
  expect(windows.take('a', 1, at).allowed).toBe(false);
  expect(windows.take('b', 5, at).remaining).toBe(3);
  expect([1, 2, 3].map(() => windows.take('c', 1, at).allowed)).toEqual([true, true, true]);
  expect(windows.take('c', 0, at).allowed).toBe(false);
  expect([1, 2].map(() => windows.take('c', 1, at + 60_000).allowed)).toEqual([true, false]);
});

test('a clock that steps back over a minute gives no second allowance; one that was far ahead is forgotten', () => {
  const windows = createInProcessWindows();
  expect(windows.take('a', 1, DAY_BEGIN).allowed).toBe(true);
  expect(windows.take('a', 1, DAY_BEGIN - 1)).toEqual({
    allowed: false,
    limit: 1,
    remaining: 0,
    resetAtMs: DAY_BEGIN + 60_000,
  });
  expect(windows.take('a', 1, DAY_BEGIN - 3_600_000).allowed).toBe(true);
});

test('slots that are never freed are forgotten after they lapse', () => {
  const slots = createInProcessSlots();
  for (let i = 0; i < 10_000; i += 1) slots.take(`subject ${i}`, 'a', 1, DAY_BEGIN + i + 1, DAY_BEGIN + i);
  expect(slots.count('subject 9999', DAY_BEGIN)).toBe(1);
  expect(slots.count('subject 0', DAY_BEGIN)).toBe(0);
});

describe('slots that the saves of records renew', () => {
  const registry = createInProcessVoiceRegistry(() => Infinity);
  const slots = createInProcessSlots(registry.leasesOf);
  const at = DAY_BEGIN;
  const take = (record: VoiceRecord, limit: number, atMs = at) =>
    slots.take(record.subject, record.id, limit, atMs + 10, atMs);

  function begin(subject: string): VoiceRecord {
    const record = { ...opened(), subject, id: randomId() };
    expect(take(record, 2)).toBe(true);
    registry.insert(record);
    return record;
  }

  function save(record: VoiceRecord, slotUntilMs?: number): VoiceRecord {
    const changed = { ...record, version: record.version + 1 };
    expect(registry.save(changed, record.version, slotUntilMs)).toBe(true);
    return changed;
  }

  test('are held until the later of both leases has lapsed, and count once', () => {
    const record = save(begin('ada'), at + 20);
    expect([at, at + 19, at + 20].map((atMs) => slots.count('ada', atMs))).toEqual([1, 1, 0]);
    expect(take({ ...record, id: 'other' }, 1, at + 19)).toBe(false);
    expect(take(record, 1, at + 19)).toBe(true);
    expect(take({ ...record, id: 'other' }, 2, at + 19)).toBe(true);
    expect(slots.count('ada', at + 19)).toBe(2);
  });

  test('are free once they are freed and no save renews them', () => {
    const idle = save(save(begin('bo'), at + 20));
    slots.free('bo', idle.id);
    expect(slots.count('bo', at)).toBe(0);
    save(idle, at + 40);
    expect(slots.count('bo', at)).toBe(1);
  });

  test('are forgotten with their record', () => {
    const record = save(begin('cy'), at + 20);
    slots.free('cy', record.id);
    registry.remove(record.id);
    expect(slots.count('cy', at)).toBe(0);
  });
});
