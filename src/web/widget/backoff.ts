import type { SwitchboardError } from './api.ts';
import { isTransient } from './error.ts';

const FIRST_MS = 500;
const MAX_MS = 30_000;

/** Milliseconds to wait after this many failures: doubles each time, with jitter, and is at least as long as the server asks to wait. */
export function pauseMs(failures: number, error?: unknown): number {
  const backoffMs = Math.min(MAX_MS, FIRST_MS * 2 ** failures) * (0.5 + Math.random() / 2);
  return Math.max(backoffMs, ((error as SwitchboardError | undefined)?.retryAfter ?? 0) * 1000);
}

/** Repeats the work until it succeeds, `tries` is reached, or it fails with a permanent error or with the code `unless`. */
export async function persist<T>(work: () => Promise<T>, tries = Infinity, unless?: string): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (failures + 1 >= tries || !isTransient(error) || error.code === unless) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs(failures, error)));
    }
  }
}
