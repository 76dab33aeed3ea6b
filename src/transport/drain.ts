import { setImmediate } from 'node:timers/promises';

/** What is going on in a server that no longer accepts connections. */
export interface Traffic {
  /** Requests that are not answered yet. */
  readonly pending: number;
  /** Open connections. */
  readonly connections: number;
  /** Requests so far. */
  readonly requests: number;
}

/**
 * Resolves right after a turn of the event loop in which nothing happened to any client. A turn begins by accepting all that the kernel
 * has connected, so what closing the listener then resets has come since the beginning of a turn that took microseconds (and, over a
 * network, what had half of its handshake behind it). At the latest, on a node that is never idle, after `patienceMs`, but not before
 * one whole turn.
 * @param seen tells apart what has happened so far
 */
export async function idleTurn(seen: () => string, patienceMs: number): Promise<void> {
  const startedAt = performance.now();
  // Of the present turn only the rest: it may have looked for connections long ago.
  await setImmediate();
  for (;;) {
    const before = seen();
    await setImmediate();
    if (seen() === before || performance.now() - startedAt >= patienceMs) return;
  }
}

const STEP_MS = 10;
/** Clients that use their connections get this long between two requests to be told, by a reply, to close. */
const IDLE_MS = 250;

/**
 * Resolves when a server may be closed without cutting anybody off: nothing is pending, and either no connection is
 * left or no request has come for 250 ms (idle keep-alive connections; a client must be ready to lose those). At the
 * latest after `graceMs`.
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
      // One step short of the grace period: the caller's own closing has to fit in as well.
      if (empty || now - idleSince >= IDLE_MS || now - startedAt >= graceMs - STEP_MS) resolve();
      else setTimeout(look, STEP_MS);
    };
    look();
  });
}
