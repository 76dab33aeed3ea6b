import { setTimeout as delay } from 'node:timers/promises';
import { UpstreamFault } from '../upstream/contract.ts';

export interface RetryOptions {
  /** Milliseconds for all tries and the pauses between them. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
  /** Lets time pass, until the signal aborts at most. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** Dials a call, and again for as long as the provider asks to wait and there is time for it. @throws what `dial` throws */
export async function dialWithRetries(dial: () => Promise<void>, options: RetryOptions): Promise<void> {
  const { budgetMs, signal, pause = wait } = options;
  let waitedMs = 0;
  for (;;) {
    try {
      return await dial();
    } catch (fault) {
      const waitMs = fault instanceof UpstreamFault ? (fault.retryAfterSec ?? Infinity) * 1000 : Infinity;
      waitedMs += waitMs;
      if (waitedMs >= budgetMs || signal.aborted) throw fault;
      await pause(waitMs, signal);
      if (signal.aborted) throw fault;
    }
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
