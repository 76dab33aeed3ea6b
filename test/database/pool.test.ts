import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Sql, WorkOptions } from '../../src/database/database.ts';
import { Pool } from '../../src/database/pool.ts';
import { Unavailable } from '../../src/kernel/errors.ts';

const DEADLINE_MS = 800;
/** How long a caller may wait once it is known that the server is silent. */
const KNOWN_MS = 250;

describe('A server that answers nothing', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  let isSilent = true;
  /** Answers that the server still owes. */
  let queue: (() => void)[] = [];
  beforeEach(() => {
    isSilent = true;
    queue = [];
  });

  function open(): Pool {
    const connect = (): Sql => ({ end: () => Promise.resolve() }) as unknown as Sql;
    return new Pool({ kind: 'postgres', connect, size: 10, deadlineMs: DEADLINE_MS, graceMs: 0 });
  }

  const ask = (pool: Pool, options?: WorkOptions): Promise<string> =>
    pool.run(
      () => new Promise((resolve) => (isSilent ? queue.push(() => resolve('late')) : resolve('answered'))),
      options,
    );

  /** How long a query took on the fake clock, and its outcome. */
  async function outcomeOf(asking: Promise<string>): Promise<{ ms: number; answer: unknown }> {
    const since = performance.now();
    const told: { ms: number; answer: unknown }[] = [];
    const tell = (answer: unknown): void => void told.push({ ms: performance.now() - since, answer });
    void asking.then(tell, tell);
    while (told[0] === undefined) await vi.advanceTimersByTimeAsync(10);
    return told[0];
  }

  test('keeps a request waiting once, however many steps it has', async () => {
    const pool = open();
    expect(await outcomeOf(ask(pool))).toMatchObject({ ms: DEADLINE_MS, answer: expect.any(Unavailable) as unknown });
    for (let step = 0; step < 3; step += 1)
      expect(await outcomeOf(ask(pool))).toMatchObject({ ms: KNOWN_MS, answer: expect.any(Unavailable) as unknown });
  });

  test('is waited for by a start for as long as its deadline allows, although requests are refused at once', async () => {
    const pool = open();
    await outcomeOf(ask(pool));
    const patient = ask(pool, { deadlineMs: 60_000 });
    expect((await outcomeOf(ask(pool))).ms).toBe(KNOWN_MS);
    queue.at(-2)?.();
    expect(await patient).toBe('late');
  });

  test('is distinguished from one that never answered', async () => {
    const pool = open();
    const codeOf = (answer: unknown): unknown => ((answer as Unavailable).cause as { readonly code?: unknown }).code;
    expect(codeOf((await outcomeOf(ask(pool))).answer)).toBe('NO_ANSWER');
    isSilent = false;
    await outcomeOf(ask(pool));
    isSilent = true;
    expect(codeOf((await outcomeOf(ask(pool))).answer)).toBe('TOO_SLOW');
  });

  test('is reported through failed work, and no longer once it serves', async () => {
    const pool = open();
    for (let step = 0; step < 3; step += 1) await outcomeOf(ask(pool));
    expect(pool.health.failure()).toMatchObject({ code: 'NO_ANSWER' });
    isSilent = false;
    await outcomeOf(ask(pool));
    expect(pool.health.failure()).toMatchObject({ code: 'NO_ANSWER' });
    await vi.advanceTimersByTimeAsync(2000);
    expect(pool.health.failure()).toBeUndefined();
  });

  test('is waited for as usual from its first answer on, even one that came too late for its caller', async () => {
    const pool = open();
    await outcomeOf(ask(pool));
    await outcomeOf(ask(pool));
    queue.at(-1)?.();
    await vi.advanceTimersByTimeAsync(0);
    expect((await outcomeOf(ask(pool))).ms).toBe(DEADLINE_MS);
    isSilent = false;
    expect((await outcomeOf(ask(pool))).answer).toBe('answered');
  });
});
