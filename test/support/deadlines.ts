import { onTestFinished, vi } from 'vitest';

/**
 * Stops all timers of exactly `ms` milliseconds until the test is over: a test of a deadline need not wait for it, and
 * no deadline passes just because the machine is busy.
 *
 * @returns a function that fires those timers that were started so far and not cleared
 */
export function holdDeadlines(ms: number): () => void {
  const held = new Map<unknown, () => void>();
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const hold = <Args extends unknown[]>(run: (...args: Args) => void, delay?: number, ...args: Args): unknown => {
    if (delay !== ms) return start(run, delay, ...args);
    // Hands out a real timer, which never fires, so that callers can use it like any other.
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
