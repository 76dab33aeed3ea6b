import { setImmediate } from 'node:timers/promises';

/** The traffic of a server that no longer accepts connections. */
export interface Traffic {
  /** Requests that are not answered yet. */
  readonly pending: number;
  /** Open connections. */
  readonly connections: number;
  /** Requests so far. */
  readonly requests: number;
}

/**
 * Resolves right after a turn of the event loop in which nothing happened to any client. A turn begins by accepting everything that the
 * kernel has connected, so closing the listener then resets only what has come since the beginning of a turn that took microseconds
 * (and, over a network, handshakes that were half done). On a node that is never idle, it resolves after `patienceMs`, but not before
 * one whole turn.
 * @param seen a text that changes with whatever happens
 */
export async function idleTurn(seen: () => string, patienceMs: number): Promise<void> {
  const startedAt = performance.now();
  // The rest of the present turn does not count: it may have accepted connections long ago.
  await setImmediate();
  for (;;) {
    const before = seen();
    await setImmediate();
    if (seen() === before || performance.now() - startedAt >= patienceMs) return;
  }
}

const STEP_MS = 10;
/** How long active clients get to send another request, whose reply then tells them to close. */
const IDLE_MS = 250;

/**
 * Resolves when a server may be closed without cutting anyone off: nothing is pending, and either no connection is
 * left or no request has come for 250 ms (idle keep-alive connections, which clients must be ready to lose).
 * Resolves after `graceMs` at the latest.
 */
export function drain(traffic: () => Traffic, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let idleSince = startedAt;
    let requests = traffic().requests;
    const look = (): void => {
      const now = performance.now();
      const seen = traffic();
      if (seen.pending > 0 || seen.requests !== requests) idleSince = now;
      requests = seen.requests;
      const empty = seen.pending === 0 && seen.connections <= 0;
      // One step before the end of the grace period, because the caller's own closing must fit in as well.
      if (empty || now - idleSince >= IDLE_MS || now - startedAt >= graceMs - STEP_MS) resolve();
      else setTimeout(look, STEP_MS);
    };
    look();
  });
}
