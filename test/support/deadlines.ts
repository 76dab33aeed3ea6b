import { onTestFinished, vi } from 'vitest';

/**
 * Takes all timers of exactly `ms` milliseconds out of time, until the test is over: a test that waits for a deadline need not wait, and
 * none is missed because the machine is busy.
 *
 * @returns lets those run out that were started so far and are still awaited
 */
export function holdDeadlines(ms: number): () => void {
  const held = new Map<unknown, () => void>();
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const hold = <Args extends unknown[]>(run: (...args: Args) => void, delay?: number, ...args: Args): unknown => {
    if (delay !== ms) return start(run, delay, ...args);
    // A timer of its own, which never comes, so that it can be used like any other.
    const timer = start(() => {}, 2 ** 31 - 1).unref();
    held.set(timer, () => run(...args));
    return timer;
  };
  vi.stubGlobal('setTimeout', hold);
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout | undefined) => {
    held.delete(timer);
    stop(timer);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return () => {
    const over = [...held];
    held.clear();
    for (const [timer, run] of over) {
      stop(timer as NodeJS.Timeout);
      run();
    }
  };
}
