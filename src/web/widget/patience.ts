import { SwitchboardError } from './error.ts';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Milliseconds to wait after so many failures: twice as long each time, and never the same for everybody. */
export function backoffMs(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** The same, but not before the server wants to hear again. */
export function pauseMs(failures: number, error: unknown): number {
  const retryAfter = error instanceof SwitchboardError ? error.retryAfter : 0;
  return Math.max(backoffMs(failures), (retryAfter ?? 0) * 1000);
}

/** Does the work until it succeeds or `isFinal` says that its failure is one. */
export async function persist<T>(
  work: () => Promise<T>,
  isFinal: (error: unknown, failures: number) => boolean,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error, failures)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs(failures, error)));
    }
  }
}
