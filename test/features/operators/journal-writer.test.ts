import { describe, expect, test } from 'vitest';
import type { TracedEvent } from '../../../src/actors/trace.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { transitionOf, type HostedRecords } from '../../../src/operators/journal/events.ts';
import { JournalWriter } from '../../../src/operators/journal/writer.ts';
import type { NoteKind } from '../../../src/protocol/operator/event.ts';
import type { EntryKind, NewEntry, TransitionDetail } from '../../../src/stores/journal/contract.ts';
import { voiceRecord } from '../../contracts/support.ts';

const NODE = 'node-1';

class Store {
  readonly batches: (readonly NewEntry[])[] = [];
  fault: Error | undefined;

  async append(entries: readonly NewEntry[]): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    this.batches.push(entries);
  }

  /** The entries of one kind that were written. */
  of<K extends EntryKind>(kind: K): NewEntry<K>[] {
    return this.batches.flat().filter((entry) => entry.kind === kind) as NewEntry<K>[];
  }
}

function write() {
  const journal = new Store();
  const dropped: EntryKind[] = [];
  const faults: unknown[] = [];
  const writer = new JournalWriter({
    journal,
    node: NODE,
    onDropped: (kind) => dropped.push(kind),
    onError: (error) => faults.push(error),
  });
  return { journal, writer, dropped, faults };
}

function transition(atMs: number, to: 'idle' | 'ended' = 'idle'): NewEntry {
  const traced: TracedEvent<HostedRecords> = {
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
  return transitionOf(traced, NODE) as NewEntry;
}

describe('The writer of the journal', () => {
  test('writes what waits in the order in which it came, in batches of 500', async () => {
    const { journal, writer } = write();
    for (let n = 0; n < 1100; n += 1) writer.add(transition(n));
    await writer.flush();
    expect(journal.batches.map((batch) => batch.length)).toEqual([500, 500, 100]);
    expect(journal.batches.flat().map(({ atMs }) => atMs)).toEqual(Array.from({ length: 1100 }, (_, n) => n));
    expect(writer.events).toBe(0);
  });

  test('keeps what waits while the database is away, and writes it once', async () => {
    const { journal, writer } = write();
    writer.add(transition(1));
    journal.fault = new Unavailable('database', 'away');
    await expect(writer.flush()).rejects.toThrow(Unavailable);
    expect(writer.events).toBe(1);
    journal.fault = undefined;
    await writer.flush();
    await writer.flush();
    expect(journal.batches.flat()).toHaveLength(1);
  });

  test('writes nothing twice when it is asked twice at once', async () => {
    const { journal, writer } = write();
    writer.add(transition(1));
    await Promise.all([writer.flush(), writer.flush()]);
    expect(journal.batches.flat()).toHaveLength(1);
  });

  test('has room for 10,000, the last of it for ends, and writes down when it left some out and how many', async () => {
    const { journal, writer, dropped } = write();
    for (let n = 0; n < 8_003; n += 1) writer.add(transition(n));
    expect(writer.events).toBe(8_000);
    for (let n = 0; n < 2_001; n += 1) writer.add(transition(9_000 + n, 'ended'));
    expect(writer.events).toBe(10_000);
    expect(dropped).toHaveLength(4);
    await writer.flush();
    expect(journal.of('lost')).toMatchObject([{ node: NODE, atMs: 11_000, detail: { fromMs: 8_000, count: 4 } }]);
    await writer.flush();
    expect(journal.of('lost')).toHaveLength(1);
  });

  test('leaves out usage and sockets first, then silences and warnings', () => {
    const { writer } = write();
    const add = (word: NoteKind | TransitionDetail['change']): void => {
      const entry = transition(0) as NewEntry<'transition'>;
      if (word === 'started' || word === 'moved' || word === 'stayed' || word === 'ended')
        writer.add({ ...entry, detail: { ...entry.detail, change: word } });
      else writer.add({ ...entry, kind: 'note', code: word, detail: {} });
    };
    const fill = (...words: (NoteKind | TransitionDetail['change'])[]): number => {
      for (let n = 0; n < 10_000; n += 1) for (const word of words) add(word);
      return writer.events;
    };
    expect([fill('usage', 'attached', 'detached'), fill('gap', 'warned'), fill('moved', 'stayed')]).toEqual([
      6_000, 7_000, 8_000,
    ]);
    expect(fill('ended')).toBe(10_000);
  });

  test('remembers what it left out until the database has it', async () => {
    const { journal, writer } = write();
    for (let n = 0; n < 8_001; n += 1) writer.add(transition(n));
    await writer.flush();
    expect(journal.of('lost')).toHaveLength(1);
    for (let n = 0; n < 8_001; n += 1) writer.add(transition(n));
    const append = journal.append.bind(journal);
    const away = new Unavailable('database', 'away');
    journal.append = (entries) =>
      entries.some(({ kind }) => kind === 'lost') ? Promise.reject(away) : append(entries);
    await expect(writer.flush()).rejects.toBe(away);
    journal.append = append;
    await writer.flush();
    expect(journal.of('lost')).toHaveLength(2);
  });

  test('lets no refusals that the database will never take bring down what machines did', async () => {
    const { journal, writer, dropped, faults } = write();
    writer.add({ ...(transition(1) as object), kind: 'refusal' } as NewEntry);
    writer.add(transition(2));
    const append = journal.append.bind(journal);
    journal.append = (entries) =>
      entries.some(({ kind }) => kind === 'refusal') ? Promise.reject(new Error('no')) : append(entries);
    await writer.flush();
    expect(journal.of('transition')).toHaveLength(1);
    expect([dropped, faults]).toEqual([['refusal'], [new Error('no')]]);
    expect([writer.events, writer.refusals]).toEqual([0, 0]);
  });

  test('counts refusals that the database will never take once, also where the rest has to wait', async () => {
    const { journal, writer, dropped } = write();
    writer.add({ ...(transition(1) as object), kind: 'refusal' } as NewEntry);
    writer.add(transition(2));
    const append = journal.append.bind(journal);
    const away = new Unavailable('database', 'away');
    journal.append = (entries) =>
      Promise.reject(entries.some(({ kind }) => kind === 'refusal') ? new Error('no') : away);
    await expect(writer.flush()).rejects.toBe(away);
    await expect(writer.flush()).rejects.toBe(away);
    journal.append = append;
    await writer.flush();
    expect([dropped, journal.of('transition').length]).toEqual([['refusal'], 1]);
  });

  test('gives up a batch that the database will never take, tells so, and goes on', async () => {
    const { journal, writer, faults } = write();
    writer.add(transition(1));
    const append = journal.append.bind(journal);
    journal.append = (entries) =>
      entries.some(({ kind }) => kind === 'transition') ? Promise.reject(new Error('no such column')) : append(entries);
    await writer.flush();
    journal.append = append;
    expect(faults).toEqual([new Error('no such column')]);
    writer.add(transition(2));
    await writer.flush();
    expect(journal.of('transition').map(({ atMs }) => atMs)).toEqual([2]);
    expect(journal.of('lost')).toMatchObject([{ node: NODE, atMs: 1, detail: { fromMs: 1, count: 1 } }]);
  });
});
