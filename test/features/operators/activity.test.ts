import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { ActivityWriter } from '../../../src/operators/overview/activity-writer.ts';
import { byLabel, movedBetween, usualHour, readMints } from '../../../src/operators/overview/activity.ts';
import { whatHappened, whatMoved } from '../../../src/operators/overview/changes-routes.ts';
import type { ActivityCount, CountChange, Stretch } from '../../../src/stores/activity/contract.ts';
import type { NewEntry, ProcessDetail } from '../../../src/stores/journal/contract.ts';
import { Activity } from '../../../src/telemetry/activity.ts';
import { DAY, HOUR, ManualClock, MINUTE, NOON } from '../../support/clock.ts';

describe('The writer of activity', () => {
  function write() {
    const clock = new ManualClock();
    const activity = new Activity();
    const added: { readonly counted: readonly ActivityCount[]; readonly atMs: number }[] = [];
    let fault: Error | undefined;
    const store = {
      async add(counted: readonly ActivityCount[], atMs: number): Promise<void> {
        if (fault !== undefined) throw fault;
        added.push({ counted, atMs });
      },
    };
    const writer = new ActivityWriter({ store, take: () => activity.take(), shard: 0, clock });
    const setFault = (error: Error | undefined): void => void (fault = error);
    return { clock, activity, added, writer, setFault };
  }

  test('adds each count once, in the minute of the flush', async () => {
    const { clock, activity, added, writer } = write();
    activity.count('started', 'widget', { tenantId: 'acme' });
    activity.count('started', 'widget', { tenantId: 'acme' });
    await Promise.all([writer.flush(), writer.flush()]);
    await writer.flush();
    const counted = [{ kind: 'started', label: 'widget', tenantId: 'acme', keyId: '', n: 2 }];
    expect(added).toEqual([{ counted, atMs: clock.now() - (clock.now() % MINUTE) }]);
  });

  test('keeps the counts of an outage, each in its minute', async () => {
    const { clock, activity, added, writer, setFault } = write();
    setFault(new Unavailable('database'));
    for (let minute = 0; minute < 2; minute += 1) {
      for (let n = 0; n < 2; n += 1) {
        activity.count('ended', 'abandoned');
        await expect(writer.flush()).rejects.toThrow(Unavailable);
      }
      clock.advance(MINUTE);
    }
    setFault(undefined);
    await writer.flush();
    expect(added.map(({ counted }) => counted.map(({ n }) => n))).toEqual([[2], [2]]);
    expect((added[1]?.atMs ?? 0) - (added[0]?.atMs ?? 0)).toBe(MINUTE);
  });

  test('writes many counts in parts, and of those only what is not written yet after a fault', async () => {
    const { activity, added, writer, setFault } = write();
    for (let n = 0; n < 2500; n += 1) activity.count('ended', `reason ${n}`);
    setFault(new Unavailable('database'));
    await expect(writer.flush()).rejects.toThrow(Unavailable);
    setFault(undefined);
    await writer.flush();
    expect(added.map(({ counted }) => counted.length)).toEqual([1000, 1000, 500]);
    await writer.flush();
    expect(added).toHaveLength(3);
  });

  test('forgets the oldest minutes of an outage that lasts for hours', async () => {
    const { clock, activity, added, writer, setFault } = write();
    setFault(new Unavailable('database'));
    for (let minute = 0; minute < 130; minute += 1) {
      activity.count('ended', 'abandoned');
      await expect(writer.flush()).rejects.toThrow(Unavailable);
      clock.advance(MINUTE);
    }
    setFault(undefined);
    await writer.flush();
    expect(added).toHaveLength(120);
  });

  test('forgets the oldest minutes of an outage in which many keys are counted', async () => {
    const { clock, activity, added, writer, setFault } = write();
    setFault(new Unavailable('database'));
    for (let minute = 0; minute < 4; minute += 1) {
      for (let n = 0; n < 20_000; n += 1) activity.count('started', 'widget', { tenantId: 'acme', keyId: `key${n}` });
      await expect(writer.flush()).rejects.toThrow(Unavailable);
      clock.advance(MINUTE);
    }
    setFault(undefined);
    await writer.flush();
    const minutes = [...new Set(added.map(({ atMs }) => atMs))];
    expect(minutes).toHaveLength(2);
    expect(added.reduce((sum, { counted }) => sum + counted.length, 0)).toBe(40_000);
  });
});

const moved = (kind: CountChange['kind'], label: string, now: number, before: number): CountChange => ({
  kind,
  label,
  now,
  before,
});

describe('What is usual', () => {
  /** A store with these counts for each label, in the hours from 11 and from 12 o'clock that many days ago. */
  const storeOf = (days: readonly number[], counts: (day: number, hour: number) => Record<string, number>) => ({
    async byBucket(_: number, stretches: readonly Stretch[]) {
      const known = days.flatMap((day) =>
        [11, 12].flatMap((hour) => {
          const atMs = NOON - day * DAY + (hour - 12) * HOUR;
          return Object.entries(counts(day, hour)).map(([label, n]) => ({ kind: 'refused' as const, label, atMs, n }));
        }),
      );
      const isAsked = ({ atMs }: { readonly atMs: number }): boolean =>
        stretches.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
      return Promise.resolve(known.filter(isAsked));
    },
  });

  test('is the median of the same 60 minutes of the last seven days, each part of an hour by its length', async () => {
    const store = storeOf([1, 2, 3, 4, 5, 6, 7, 8], (day, hour) => ({
      BOT: day * (hour === 12 ? 100 : 20),
      RATE: day === 7 ? 900 : 0,
    }));
    // The 60 minutes end with the whole minute at a quarter past.
    expect(await usualHour(store, NOON + 14 * MINUTE, '*')).toEqual({
      started: 0,
      ended: {},
      refused: { BOT: 4 * (15 + 25) },
    });
    expect(await usualHour(store, NOON - 1, '*')).toMatchObject({ refused: { BOT: 4 * 20 } });
  });

  test('leaves out days of which nothing was counted, and is not known of two', async () => {
    const counts = (day: number) => ({ BOT: day * 10 });
    expect(await usualHour(storeOf([2, 5, 7], counts), NOON - 1, '*')).toMatchObject({ refused: { BOT: 50 } });
    expect(await usualHour(storeOf([1, 2, 4, 6], counts), NOON - 1, '*')).toMatchObject({ refused: { BOT: 30 } });
    expect(await usualHour(storeOf([2, 5], counts), NOON - 1, '*')).toBeUndefined();
    expect(await usualHour({ byBucket: () => Promise.resolve(undefined) }, NOON, '*')).toBeUndefined();
  });
});

describe('Mints', () => {
  test('are counted by provider, outcome and time; who went away counts for nothing', () => {
    const activity = new Activity();
    activity.countMint('openai', 'minted', 0.5);
    activity.countMint('openai', 'minted', 0.51);
    activity.countMint('openai', 'timeout', 9);
    activity.countMint('openai', 'caller_gone', 9);
    expect(activity.take().map(({ label }) => label)).toEqual(['openai|ok|≤0.5', 'openai|ok|≤1', 'openai|timeout|>8']);
  });

  test('tell the time within which 95 of 100 were answered', () => {
    const all = [moved('mint', 'openai|ok|≤0.5', 90, 0), moved('mint', 'openai|ok|≤1', 10, 0)];
    expect(readMints(all, 'now')).toMatchObject([{ provider: 'openai', ok: 100, failed: 0, p95Sec: 0.75 }]);
    expect(readMints(all, 'before')).toEqual([]);
    expect(readMints([moved('mint', 'openai|timeout|>8', 3, 0)], 'now')).toMatchObject([{ failed: 3, p95Sec: null }]);
  });
});

describe('What moved', () => {
  const cases: [string, CountChange, object[]][] = [
    [
      'by half',
      moved('refused', 'ORIGIN_MISMATCH', 15, 10),
      [{ what: 'ORIGIN_MISMATCH', now: 15, before: 10, factor: 1.5 }],
    ],
    ['by less', moved('refused', 'ORIGIN_MISMATCH', 14, 10), []],
    ['of too few', moved('refused', 'ORIGIN_MISMATCH', 9, 1), []],
    [
      'from nothing',
      moved('ended', 'abandoned', 10, 0),
      [{ what: 'sessions ended (abandoned)', now: 10, before: 0, factor: null }],
    ],
    [
      'downwards',
      moved('started', 'widget', 10, 96),
      [{ what: 'sessions started (widget)', now: 10, before: 96, factor: 0.1 }],
    ],
    ['and is told elsewhere', moved('kept', 'ORIGIN_MISMATCH', 100, 0), []],
  ];

  test.each(cases)('%s', (_how, one, told) => {
    expect(whatMoved([one])).toEqual(told);
  });

  test('of the provider is how many failed and how long mints take', () => {
    const all = [
      moved('mint', 'openai|ok|≤0.5', 0, 100),
      moved('mint', 'openai|ok|≤2', 100, 0),
      moved('mint', 'openai|timeout|>8', 12, 0),
    ];
    expect(whatMoved(all)).toEqual([
      { what: 'mints that failed (openai)', now: 12, before: 0, factor: null },
      { what: 'mint p95 seconds (openai)', now: 1.95, before: 0.49, factor: 3.98 },
    ]);
  });
});

test('What happened tells of restarts with what differs, and of operators, the newest first', () => {
  const run = (atMs: number, fields: Partial<ProcessDetail> = {}): NewEntry<'process'> => ({
    id: `e${atMs}`,
    kind: 'process',
    atMs,
    node: `n${atMs}`,
    requestId: null,
    of: { target: `p${atMs}` },
    code: 'started',
    detail: { host: 'voice-3', version: '0.1.0', configHash: 'a', shard: 0, ...fields },
  });
  const entry = { actor: 'ops@example.com', action: 'key.issue', target: 'acme/shop' } as const;
  const happened = whatHappened(
    [run(5, { version: '0.1.1', configHash: 'b' }), run(4, { host: 'voice-4' }), run(3)],
    [run(1)],
    [{ ...entry, atMs: 6 }],
  );
  expect(happened.map(({ sentence }) => sentence)).toEqual([
    'ops@example.com: key.issue acme/shop.',
    'A process started on voice-3: 0.1.0 → 0.1.1, its settings changed.',
    'A process started on voice-4, version 0.1.0.',
    'A process started on voice-3.',
  ]);
});

test('A span is looked at by minutes where those are kept, and else by hours, beside as long a time before', async () => {
  const asked: unknown[] = [];
  const store = {
    async moved(...given: unknown[]): Promise<CountChange[]> {
      asked.push(given.slice(0, 4));
      return [];
    },
  };
  const HOUR = 60 * MINUTE;
  await movedBetween(store, NOON - HOUR, NOON, NOON, '*');
  await movedBetween(store, NOON - 24 * HOUR, NOON, NOON, '*');
  await movedBetween(store, NOON - 60 * HOUR, NOON - 59 * HOUR, NOON, '*');
  expect(asked).toEqual([
    [1, NOON - 2 * HOUR - MINUTE, NOON - HOUR, NOON + MINUTE],
    [60, NOON - 49 * HOUR, NOON - 24 * HOUR, NOON + HOUR],
    [60, NOON - 62 * HOUR, NOON - 60 * HOUR, NOON - 58 * HOUR],
  ]);
});

test('Labels that nothing was counted under are left out', () => {
  expect(
    byLabel([moved('refused', 'A', 0, 3), moved('refused', 'B', 2, 0), moved('kept', 'C', 1, 0)], 'refused'),
  ).toEqual({ B: 2 });
});
