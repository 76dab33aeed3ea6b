import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { NodeRun, NodeRuns } from '../../src/stores/nodes/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

const MINUTE = 60_000;

function run(fields: Partial<NodeRun> = {}): NodeRun {
  return {
    prefix: randomId().slice(0, 8),
    node: randomId(),
    host: 'voice-1',
    version: '0.1.0',
    configHash: '9c3b6e5f0a1d',
    shard: 7,
    startedAtMs: DAY_BEGIN,
    stoppedAtMs: null,
    ...fields,
  };
}

export function nodeRunsContract(name: string, make: Make<NodeRuns>): void {
  describe(`processes, ${name}`, () => {
    const runs = nodesOf(make);

    test('are listed by their start, the newest first, and say when they stopped', async () => {
      // A time of its own, because every test of the suite writes into the same table.
      const year = Date.UTC(1999, 0, 1);
      const [older, newer] = [run({ startedAtMs: year }), run({ startedAtMs: year + 5 })];
      for (const one of [older, newer]) await runs().started(one);
      await runs().started({ ...older, version: 'told twice' });
      await runs().stopped(older.prefix, year + 3);
      const known = { ...older, stoppedAtMs: year + 3 };
      expect(await runs().startedWithin(year, year + 5, 10)).toEqual([newer, known]);
      expect(await runs().startedWithin(year, year + 4, 10)).toEqual([known]);
      expect(await runs().startedWithin(year, year + 5, 1)).toEqual([newer]);
    });

    test('tell the time in which a request id was given: between what was given before and after', async () => {
      const one = run();
      const { prefix } = one;
      await runs().started(one);
      await runs().noteRequests(prefix, 10, DAY_BEGIN + 5000);
      await runs().noteRequests(prefix, 20, DAY_BEGIN + 55_000);
      await runs().noteRequests(prefix, 30, DAY_BEGIN + MINUTE + 1000);
      const timeOf = async (request: number) => {
        const time = await runs().timeOf(prefix, request);
        return time === undefined ? undefined : [time.fromMs - DAY_BEGIN, time.toMs - DAY_BEGIN];
      };
      expect(await timeOf(1)).toEqual([0, 55_000]);
      expect(await timeOf(20)).toEqual([0, 55_000]);
      expect(await timeOf(21)).toEqual([55_000, MINUTE + 1000]);
      expect(await timeOf(30)).toEqual([55_000, MINUTE + 1000]);
      expect(await timeOf(31)).toBeUndefined();
      expect(await timeOf(0)).toBeUndefined();
      expect((await runs().timeOf(prefix, 1))?.run).toEqual(one);
    });

    test('that are unknown gave no request ids', async () => {
      expect(await runs().timeOf('nobodyyy', 1)).toBeUndefined();
    });

    test('take back nothing that a late note tells', async () => {
      const one = run();
      await runs().started(one);
      await runs().noteRequests(one.prefix, 20, DAY_BEGIN + 2000);
      await runs().noteRequests(one.prefix, 10, DAY_BEGIN + 1000);
      expect(await runs().timeOf(one.prefix, 20)).toMatchObject({ toMs: DAY_BEGIN + 2000 });
    });
  });
}
