import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Windows } from '../../src/stores/windows/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

const MINUTE_MS = 60_000;

export function windowsContract(name: string, make: Make<Windows>): void {
  describe(`edge windows, ${name}`, () => {
    const windows = nodesOf(make);
    // Grows from test to test: windows may forget the past.
    let minute = DAY_BEGIN;
    const nextMinute = () => (minute += MINUTE_MS);

    test('counts down to the limit and then refuses, without counting the refused', async () => {
      const key = randomId();
      const at = nextMinute() + 1_234;
      const taken = [];
      for (let i = 0; i < 5; i += 1) taken.push(await windows().take(key, 3, at));
      const resetAtMs = minute + MINUTE_MS;
      expect(taken).toEqual([
        { allowed: true, limit: 3, remaining: 2, resetAtMs },
        { allowed: true, limit: 3, remaining: 1, resetAtMs },
        { allowed: true, limit: 3, remaining: 0, resetAtMs },
        { allowed: false, limit: 3, remaining: 0, resetAtMs },
        { allowed: false, limit: 3, remaining: 0, resetAtMs },
      ]);
    });

    test('takes that are decided at once count like all others', async () => {
      const [one, other] = [windows(), windows()];
      const key = randomId();
      const at = nextMinute() + 1_234;
      expect(one.takeAtOnce(key, 3, at)).toEqual({
        allowed: true,
        limit: 3,
        remaining: 2,
        resetAtMs: minute + MINUTE_MS,
      });
      expect(await one.take(key, 3, at)).toMatchObject({ allowed: true, remaining: 1 });
      expect(await other.take(key, 3, at)).toMatchObject({ allowed: true, remaining: 0 });
      other.takeAtOnce(key, 3, at);
      expect(await other.take(key, 3, at)).toMatchObject({ allowed: false });
      // By now this process knows what the other one took.
      expect(other.takeAtOnce(key, 3, at)).toMatchObject({ allowed: false, remaining: 0 });
    });

    test('what is known about a window can be read without counting', () => {
      const one = windows();
      const key = randomId();
      const at = nextMinute() + 1_234;
      const resetAtMs = minute + MINUTE_MS;
      expect(one.known(key, 2, at)).toEqual({ allowed: true, limit: 2, remaining: 2, resetAtMs });
      for (let n = 0; n < 3; n += 1) one.takeAtOnce(key, 2, at);
      const usedUp = { allowed: false, limit: 2, remaining: 0, resetAtMs };
      for (let n = 0; n < 2; n += 1) expect(one.known(key, 2, at)).toEqual(usedUp);
      expect(one.known(key, 2, nextMinute())).toMatchObject({ allowed: true, remaining: 2 });
    });

    test('a limit of zero refuses', async () => {
      expect(await windows().take(randomId(), 0, nextMinute())).toMatchObject({ allowed: false, remaining: 0 });
    });

    test("one key's count is not another's", async () => {
      const at = nextMinute();
      await windows().take(randomId(), 1, at);
      expect(await windows().take(randomId(), 1, at)).toMatchObject({ allowed: true });
    });

    test("a new minute starts anew, aligned to the clock's minutes", async () => {
      const key = randomId();
      const at = nextMinute() + MINUTE_MS - 1;
      expect(await windows().take(key, 1, at)).toEqual({ allowed: true, limit: 1, remaining: 0, resetAtMs: at + 1 });
      expect(await windows().take(key, 1, at)).toMatchObject({ allowed: false });
      expect(await windows().take(key, 1, nextMinute())).toEqual({
        allowed: true,
        limit: 1,
        remaining: 0,
        resetAtMs: at + 1 + MINUTE_MS,
      });
    });

    test('of 64 concurrent takes exactly as many pass as the limit says, each with its own remainder', async () => {
      const key = randomId();
      const at = nextMinute();
      const taken = await atOnce(RACERS, () => windows().take(key, 40, at));
      const allowed = taken.filter((one) => one.allowed);
      expect(allowed).toHaveLength(40);
      expect(new Set(allowed.map(({ remaining }) => remaining)).size).toBe(40);
    });
  });
}
