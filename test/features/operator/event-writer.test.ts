import { describe, expect, test } from 'vitest';
import type { Traced } from '../../../src/actors/trace.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { HostedRecords } from '../../../src/operator/actor-event.ts';
import type { ActorEventKind } from '../../../src/protocol/operator/event.ts';
import { EventWriter } from '../../../src/operator/event-writer.ts';
import type { LostEvents, NewActorEvent } from '../../../src/stores/actor-events/contract.ts';
import { voiceRecord } from '../../contracts/support.ts';

const NODE = 'node-1';

class Kept {
  readonly batches: (readonly NewActorEvent[])[] = [];
  readonly lost: LostEvents[] = [];
  fault: Error | undefined;

  async append(events: readonly NewActorEvent[]): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    this.batches.push(events);
  }

  async noteLost(lost: LostEvents): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    this.lost.push(lost);
  }
}

function write() {
  const store = new Kept();
  const dropped: number[] = [];
  const faults: unknown[] = [];
  const writer = new EventWriter({
    store,
    node: NODE,
    onDropped: () => dropped.push(1),
    onError: (error) => faults.push(error),
  });
  return { store, writer, dropped, faults };
}

function traced(atMs: number, to: 'idle' | 'ended' = 'idle'): Traced<HostedRecords> {
  return {
    machine: 'voice-session',
    event: 'CLOCK',
    atMs,
    requestId: null,
    from: { live: 'engaged' },
    to: to === 'ended' ? 'ended' : { live: { dormant: 'idle' } },
    isFinal: to === 'ended',
    before: voiceRecord(),
    record: voiceRecord(),
    steps: [],
    guards: [],
  };
}

describe('The writer of events', () => {
  test('writes what waits in the order in which it came, in batches of 500', async () => {
    const { store, writer } = write();
    for (let n = 0; n < 1100; n += 1) writer.note(traced(n));
    await writer.flush();
    expect(store.batches.map((batch) => batch.length)).toEqual([500, 500, 100]);
    expect(store.batches.flat().map(({ atMs }) => atMs)).toEqual(Array.from({ length: 1100 }, (_, n) => n));
    expect(writer.size).toBe(0);
  });

  test('keeps what waits while the database is away, and writes it once', async () => {
    const { store, writer } = write();
    writer.note(traced(1));
    store.fault = new Unavailable('database', 'away');
    await expect(writer.flush()).rejects.toThrow(Unavailable);
    expect(writer.size).toBe(1);
    store.fault = undefined;
    await writer.flush();
    await writer.flush();
    expect(store.batches.flat()).toHaveLength(1);
  });

  test('writes nothing twice when it is asked twice at once', async () => {
    const { store, writer } = write();
    writer.note(traced(1));
    await Promise.all([writer.flush(), writer.flush()]);
    expect(store.batches.flat()).toHaveLength(1);
  });

  test('has room for 10,000, the last of it for ends, and writes down when it left some out and how many', async () => {
    const { store, writer, dropped } = write();
    for (let n = 0; n < 8_003; n += 1) writer.note(traced(n));
    expect(writer.size).toBe(8_000);
    for (let n = 0; n < 2_001; n += 1) writer.note(traced(9_000 + n, 'ended'));
    expect(writer.size).toBe(10_000);
    expect(dropped).toHaveLength(4);
    await writer.flush();
    expect(store.lost).toEqual([{ node: NODE, fromMs: 8_000, toMs: 11_000, count: 4 }]);
    await writer.flush();
    expect(store.lost).toHaveLength(1);
  });

  test('leaves out usage and sockets first, then silences and warnings', () => {
    const { writer } = write();
    const note = (kind: ActorEventKind): void =>
      writer.add({
        machine: 'voice-session',
        actor: 's',
        version: null,
        atMs: 0,
        kind,
        event: null,
        from: null,
        to: null,
        steps: [],
        guards: [],
        detail: {},
        node: NODE,
        requestId: null,
      });
    const fill = (...kinds: ActorEventKind[]): number => {
      for (let n = 0; n < 10_000; n += 1) for (const kind of kinds) note(kind);
      return writer.size;
    };
    expect([fill('usage', 'attached', 'detached'), fill('gap', 'warned'), fill('moved', 'stayed')]).toEqual([
      6_000, 7_000, 8_000,
    ]);
    expect(fill('ended')).toBe(10_000);
  });

  test('remembers what it left out until the database has it', async () => {
    const { store, writer } = write();
    for (let n = 0; n < 8_001; n += 1) writer.note(traced(n));
    await writer.flush();
    expect(store.lost).toHaveLength(1);
    for (let n = 0; n < 8_001; n += 1) writer.note(traced(n));
    const failing = new Unavailable('database', 'away');
    const noteLost = store.noteLost.bind(store);
    store.noteLost = () => Promise.reject(failing);
    await expect(writer.flush()).rejects.toBe(failing);
    store.noteLost = noteLost;
    await writer.flush();
    expect(store.lost).toHaveLength(2);
  });

  test('gives up a batch that the database will never take, tells so, and goes on', async () => {
    const { store, writer, faults } = write();
    writer.note(traced(1));
    const append = store.append.bind(store);
    store.append = () => Promise.reject(new Error('no such column'));
    await writer.flush();
    store.append = append;
    expect(faults).toEqual([new Error('no such column')]);
    writer.note(traced(2));
    await writer.flush();
    expect(store.batches.flat().map(({ atMs }) => atMs)).toEqual([2]);
    expect(store.lost).toEqual([{ node: NODE, fromMs: 1, toMs: 1, count: 1 }]);
  });
});
