import { describe, expect, test } from 'vitest';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { HistoryRow, SaveOutcome, VoiceHistory } from '../../../src/stores/voice-history/contract.ts';
import { HistoryWriter, type HistoryListener } from '../../../src/sessions/history-writer.ts';
import { defaults, end, heartbeat, opened, play } from '../../machines/voice-session-support.ts';

/** A history that answers only when the test says so. */
class SlowHistory implements Pick<VoiceHistory, 'save' | 'endedAmong'> {
  readonly saves: (readonly HistoryRow[])[] = [];
  isAway = false;
  readonly #waiting: (() => void)[] = [];

  save(rows: readonly HistoryRow[]): Promise<SaveOutcome> {
    this.saves.push(rows);
    if (this.isAway) return Promise.reject(new Unavailable('database'));
    return new Promise((resolve) => this.#waiting.push(() => resolve({ ended: [] })));
  }

  /** Sessions that had already ended. */
  over: VoiceRecord[] = [];

  endedAmong(ids: readonly string[]): Promise<VoiceRecord[]> {
    return Promise.resolve(this.over.filter(({ id }) => ids.includes(id)));
  }

  /** Answers the pending saves, and lets their callers continue. */
  async answer(): Promise<void> {
    for (const answer of this.#waiting.splice(0)) answer();
    await settle();
  }
}

/** Runs everything that does not wait for an answer. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function writerOn(history: SlowHistory, listener: Partial<HistoryListener> = {}): HistoryWriter {
  const all = { ended: () => undefined, endedBefore: () => undefined, ...listener };
  return new HistoryWriter(history as unknown as VoiceHistory, defaults, all);
}

function record(n: number): VoiceRecord {
  return { ...opened(), id: `s:${'0'.repeat(32)}:${String(n).padStart(22, '0')}` };
}

function note(writer: HistoryWriter, changed: VoiceRecord): void {
  writer.waiting.set(changed.id, changed);
}

const ids = (rows: readonly HistoryRow[] | undefined): number[] =>
  (rows ?? []).map(({ record: { id } }) => Number(id.slice(-22)));

describe('The history writer', () => {
  test('writes only the newest version of a record', async () => {
    const history = new SlowHistory();
    const writer = writerOn(history);
    const later = play(opened(), defaults, [heartbeat(5)]).record;
    note(writer, opened());
    note(writer, later);
    expect(writer.waiting.size).toBe(1);
    void writer.flush();
    expect(history.saves).toEqual([[{ record: later, state: 'engaged' }]]);
    await history.answer();
    expect(writer.waiting.size).toBe(0);
  });

  test('tells of a session that was written as live and had ended before', async () => {
    const history = new SlowHistory();
    const told: string[] = [];
    const writer = writerOn(history, { endedBefore: ({ id }) => void told.push(id) });
    history.over = [play(record(1), defaults, [end(5, 'closed_by_client')]).record];
    note(writer, record(1));
    note(writer, record(2));
    const flushed = writer.flush();
    await history.answer();
    await flushed;
    expect(told).toEqual([record(1).id]);
  });

  test('tells of one that was heard without being written and had ended before, once for each time that it is heard', async () => {
    const history = new SlowHistory();
    const told: string[] = [];
    const writer = writerOn(history, { endedBefore: ({ id }) => void told.push(id) });
    history.over = [play(record(1), defaults, [end(5, 'closed_by_client')]).record];
    for (const n of [1, 2]) writer.heard.add(record(n).id);
    await writer.flush();
    await writer.flush();
    expect([told, history.saves]).toEqual([[record(1).id], []]);
  });

  test('writes at most a thousand records in one statement, in the order in which they came', async () => {
    const history = new SlowHistory();
    const writer = writerOn(history);
    for (let n = 0; n < 2500; n += 1) note(writer, record(n));
    const flushed = writer.flush();
    for (let times = 0; times < 3; times += 1) await history.answer();
    await flushed;
    expect(history.saves.map((rows) => rows.length)).toEqual([1000, 1000, 500]);
    expect(history.saves.flatMap(ids)).toEqual(Array.from({ length: 2500 }, (_, n) => n));
    expect(writer.waiting.size).toBe(0);
  });

  test('ends a flush however much comes meanwhile: that waits for the next', async () => {
    const history = new SlowHistory();
    const writer = writerOn(history);
    note(writer, record(1));
    let isDone = false;
    const flushed = writer.flush().then(() => (isDone = true));
    note(writer, record(2));
    await history.answer();
    await flushed;
    expect([isDone, writer.waiting.size, history.saves.length]).toEqual([true, 1, 1]);
  });

  test('keeps a record waiting that changed while it was written', async () => {
    const history = new SlowHistory();
    const writer = writerOn(history);
    note(writer, opened());
    const flushed = writer.flush();
    note(writer, play(opened(), defaults, [heartbeat(5)]).record);
    await history.answer();
    await flushed;
    expect(writer.waiting.size).toBe(1);
  });

  test('loses nothing while the database is away, and writes all of it afterwards', async () => {
    const history = new SlowHistory();
    const writer = writerOn(history);
    history.isAway = true;
    for (let n = 0; n < 3; n += 1) note(writer, record(n));
    await expect(writer.flush()).rejects.toThrow(Unavailable);
    await expect(writer.flush()).rejects.toThrow(Unavailable);
    expect(writer.waiting.size).toBe(3);
    history.isAway = false;
    const flushed = writer.flush();
    await history.answer();
    await flushed;
    expect([writer.waiting.size, ids(history.saves.at(-1))]).toEqual([0, [0, 1, 2]]);
  });

  test('writes a transition without waiting for touches, and transitions that come together in one statement', async () => {
    const history = new SlowHistory();
    const writer = writerOn(history);
    for (let n = 0; n < 10; n += 1) note(writer, record(n));
    const ended = [20, 21, 22].map((n) => play(record(n), defaults, [end(7)]).record);
    for (const one of ended) note(writer, one);
    const written = ended.map((one) => writer.saveOrWait(one));
    // The transitions of one turn of the event loop are written when it ends.
    await settle();
    await history.answer();
    await Promise.all(written);
    expect(history.saves.map(ids)).toEqual([[20, 21, 22]]);
    expect(history.saves.flat().every(({ state }) => state === 'ended')).toBe(true);
    expect(writer.waiting.size).toBe(10);
  });

  test('lets a transition wait for the next flush when the database is away', async () => {
    const history = new SlowHistory();
    const writer = writerOn(history);
    history.isAway = true;
    note(writer, opened());
    await writer.saveOrWait(opened());
    expect(writer.waiting.size).toBe(1);
  });

  test('tells of a fault that is no outage', async () => {
    const history = new SlowHistory();
    history.save = () => Promise.reject(new TypeError('a defect'));
    const writer = writerOn(history);
    note(writer, opened());
    await expect(writer.saveOrWait(opened())).rejects.toThrow('a defect');
  });
});
