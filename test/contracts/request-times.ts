import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { RequestTimes } from '../../src/stores/nodes/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

const MINUTE = 60_000;

export function requestTimesContract(name: string, make: Make<RequestTimes>): void {
  describe(`times of request ids, ${name}`, () => {
    const times = nodesOf(make);

    test('lie between the times noted before and after', async () => {
      const prefix = randomId().slice(0, 8);
      await times().note(prefix, 10, DAY_BEGIN + 5000);
      await times().note(prefix, 20, DAY_BEGIN + 55_000);
      await times().note(prefix, 30, DAY_BEGIN + MINUTE + 1000);
      const [first, second] = [DAY_BEGIN + 55_000, DAY_BEGIN + MINUTE + 1000];
      expect(await times().of(prefix, 1)).toEqual({ fromMs: undefined, toMs: first });
      expect(await times().of(prefix, 20)).toEqual({ fromMs: undefined, toMs: first });
      expect(await times().of(prefix, 21)).toEqual({ fromMs: first, toMs: second });
      expect(await times().of(prefix, 30)).toEqual({ fromMs: first, toMs: second });
      expect(await times().of(prefix, 31)).toBeUndefined();
      expect(await times().of(prefix, 0)).toBeUndefined();
    });

    test('are undefined for unknown processes', async () => {
      expect(await times().of('nobodyyy', 1)).toBeUndefined();
    });

    test('are not moved by a late note', async () => {
      const prefix = randomId().slice(0, 8);
      await times().note(prefix, 20, DAY_BEGIN + 2000);
      await times().note(prefix, 10, DAY_BEGIN + 1000);
      expect(await times().of(prefix, 20)).toMatchObject({ toMs: DAY_BEGIN + 2000 });
    });
  });
}
