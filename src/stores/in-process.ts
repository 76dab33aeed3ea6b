import { type Clock, MINUTE_MS } from '../kernel/time.ts';
import type { LiveStores } from './contract.ts';
import type { DueAt } from './voice-registry/contract.ts';
import { createInProcessVoiceRegistry } from './voice-registry/in-process.ts';
import type { AtOnce } from '../kernel/async.ts';
import type { Windows } from './windows/contract.ts';
import type { Slots } from './slots/contract.ts';
import type { Bus, BusListener, BusListeners } from './bus/contract.ts';
import type { BusMessage } from '../protocol/bus.ts';
import type { Recaps } from './recaps/contract.ts';

/**
 * The live stores of a single process.
 * @param onError gets errors that cannot be reported to any caller
 */
export function createInProcessStores(dueAt: DueAt, clock: Clock, onError: (error: unknown) => void): LiveStores {
  const registry = createInProcessVoiceRegistry(dueAt);
  let isEmpty = true;
  return {
    registry,
    slots: createInProcessSlots(registry.leasesOf),
    // Sockets die with their node: nothing keeps their leases alive.
    sockets: { ...createInProcessSlots(), keepAlive: () => undefined },
    windows: createInProcessWindows(),
    bus: createInProcessBus(onError),
    recaps: createInProcessRecaps(),
    clock,
    async restoreWhatIsLost(restore) {
      if (!isEmpty) return;
      await restore(
        () => true,
        () => Promise.resolve(),
      );
      isEmpty = false;
    },
    onLost: () => undefined,
    health: { failure: () => undefined },
    probe: () => Promise.resolve(),
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

export interface InProcessWindows extends AtOnce<Windows> {
  /** Continues from `taken`, if that is more than was counted here. */
  learn(key: string, taken: number, atMs: number): void;
}

/** About 30 MB at worst, for one minute. */
const MAX_KEYS = 250_000;

/**
 * Edge limits in this process's memory: one map of counts, thrown away when the minute turns.
 *
 * Memory is bounded by `maxKeys`. Beyond it new keys pass uncounted (fail open), while those counted already stay limited. An attacker with that many
 * addresses is allowed more requests by the rules than a process can serve, so refusing newcomers would stop everybody but the attacker.
 */
export function createInProcessWindows(maxKeys = MAX_KEYS): InProcessWindows {
  let minuteMs = 0;
  let counts = new Map<string, number>();

  /** If the clock steps back a little, counting goes on in the newest window, so that a boundary never gives twice; a corrected clock starts anew. */
  function turn(atMs: number): void {
    const startMs = atMs - (atMs % MINUTE_MS);
    if (startMs === minuteMs || startMs === minuteMs - MINUTE_MS) return;
    minuteMs = startMs;
    counts = new Map();
  }

  const windows: InProcessWindows = {
    take(key, limit, atMs) {
      turn(atMs);
      const resetAtMs = minuteMs + MINUTE_MS;
      const count = counts.get(key);
      if (count === undefined && counts.size >= maxKeys)
        return { allowed: limit > 0, limit, remaining: limit, resetAtMs };
      const taken = count ?? 0;
      if (taken >= limit) return { allowed: false, limit, remaining: 0, resetAtMs };
      counts.set(key, taken + 1);
      return { allowed: true, limit, remaining: limit - taken - 1, resetAtMs };
    },

    takeAtOnce: (key, limit, atMs) => windows.take(key, limit, atMs),

    known(key, limit, atMs) {
      turn(atMs);
      const remaining = Math.max(0, limit - (counts.get(key) ?? 0));
      return { allowed: remaining > 0, limit, remaining, resetAtMs: minuteMs + MINUTE_MS };
    },

    learn(key, taken, atMs) {
      turn(atMs);
      const count = counts.get(key);
      if (count === undefined ? counts.size < maxKeys : count < taken) counts.set(key, taken);
    },
  };
  return windows;
}

/** The end of each holder's lease. */
type LeaseEnds = Map<string, number>;

/**
 * The leases of a subject that were renewed by saves in the registry. They count like those that are held here.
 */
export type SavedLeases = (subject: string) => Iterable<readonly [holder: string, untilMs: number]>;

/** Forgotten subjects are first cleaned up when this many are held. */
const FIRST_CLEANING = 1024;

/**
 * Concurrency slots in this process's memory; a lease has lapsed from its end on.
 * @param savedLeases a lease that is in both places counts once, until the later of the two has lapsed; only those held here can be freed
 */
export function createInProcessSlots(savedLeases: SavedLeases = () => []): AtOnce<Slots> {
  const subjects = new Map<string, LeaseEnds>();
  let cleaningSize = FIRST_CLEANING;

  /** Removes subjects whose holders were never freed. It waits until their number has doubled, so that it costs next to nothing. */
  function clean(atMs: number): void {
    for (const [subject, leases] of subjects) {
      dropLapsed(leases, atMs);
      if (leases.size === 0) subjects.delete(subject);
    }
    cleaningSize = Math.max(FIRST_CLEANING, subjects.size * 2);
  }

  function leasesOf(subject: string): LeaseEnds {
    const present = subjects.get(subject);
    if (present !== undefined) return present;
    const leases: LeaseEnds = new Map();
    subjects.set(subject, leases);
    return leases;
  }

  /** Holders that have a lease by a save and none here. */
  function savedOnly(subject: string, leases: LeaseEnds | undefined, atMs: number): readonly string[] {
    const found: string[] = [];
    for (const [holder, untilMs] of savedLeases(subject))
      if (untilMs > atMs && (leases?.get(holder) ?? 0) <= atMs) found.push(holder);
    return found;
  }

  /** Never moves a lease backwards: a renewal that is late, or from a node whose clock is behind, shortens nothing. */
  function hold(subject: string, holder: string, untilMs: number): void {
    const leases = leasesOf(subject);
    leases.set(holder, Math.max(untilMs, leases.get(holder) ?? untilMs));
  }

  return {
    take(subject, holder, limit, leaseUntilMs, atMs) {
      if (subjects.size >= cleaningSize) clean(atMs);
      const leases = leasesOf(subject);
      dropLapsed(leases, atMs);
      const saved = savedOnly(subject, leases, atMs);
      const isHeld = leases.has(holder) || saved.includes(holder);
      const admitted = isHeld || leases.size + saved.length < limit;
      if (admitted) hold(subject, holder, leaseUntilMs);
      else if (leases.size === 0) subjects.delete(subject);
      return admitted;
    },

    renew: hold,

    confirm(subject, holder, leaseUntilMs) {
      hold(subject, holder, leaseUntilMs);
      return true;
    },

    free(subject, holder) {
      const leases = subjects.get(subject);
      if (leases?.delete(holder) === true && leases.size === 0) subjects.delete(subject);
    },

    count(subject, atMs) {
      const leases = subjects.get(subject);
      let held = savedOnly(subject, leases, atMs).length;
      for (const untilMs of leases?.values() ?? []) if (untilMs > atMs) held += 1;
      return held;
    },
  };
}

function dropLapsed(leases: LeaseEnds, atMs: number): void {
  for (const [holder, untilMs] of leases) if (untilMs <= atMs) leases.delete(holder);
}

export interface InProcessBus extends Bus {
  /** Delivers another node's message to this node's listeners. */
  relay(message: BusMessage): void;
}

/**
 * The bus of a single process: listeners get a message before `publish` returns. A listener that throws or rejects affects neither the publisher nor
 * other listeners: its error goes to `onError`.
 */
export function createInProcessBus(onError: (error: unknown) => void = warn): InProcessBus {
  const listeners = new Listeners<[message: BusMessage, isOwn: boolean]>(onError);
  return {
    isConnected: true,
    // There are no other nodes whose messages could be missed.
    onGap: () => () => undefined,
    publish: (message) => listeners.tell(message, true),
    relay: (message) => listeners.tell(message, false),
    subscribe: (listen) => listeners.add(listenerOf(listen)),
  };
}

/** One listener in the place of several: a message of a type for which there is none goes to nobody. */
export function listenerOf(listen: BusListener | BusListeners): BusListener {
  if (typeof listen === 'function') return listen;
  return (message, isOwn) => (listen[message.type] as BusListener | undefined)?.(message, isOwn);
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

/** Those who listen to something. One that throws or rejects affects no other: its error goes to `onError`. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #all = new Set<{ readonly listen: (...told: Told) => unknown }>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @returns a function that stops listening; a function that listens twice can stop once */
  add(listen: (...told: Told) => unknown): () => void {
    const listener = { listen };
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  tell(...told: Told): void {
    for (const { listen } of this.#all) {
      try {
        const result = listen(...told);
        if (result instanceof Promise) result.catch(this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/** Recaps in this process's memory. */
export function createInProcessRecaps(): AtOnce<Recaps> {
  /** In the order in which they were kept, so that expired ones come first. */
  const recaps = new Map<string, { readonly sealed: string; readonly untilMs: number }>();
  return {
    keep(sessionId, sealed, untilMs, atMs) {
      for (const [id, recap] of recaps) {
        if (recap.untilMs > atMs) break;
        recaps.delete(id);
      }
      recaps.delete(sessionId);
      recaps.set(sessionId, { sealed, untilMs });
    },

    find(sessionId, atMs) {
      const recap = recaps.get(sessionId);
      return recap !== undefined && recap.untilMs > atMs ? recap.sealed : undefined;
    },

    forget: (sessionId) => recaps.delete(sessionId),
  };
}
