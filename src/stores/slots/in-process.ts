import type { AtOnce } from '../../kernel/async.ts';
import type { Slots } from './contract.ts';

/** The end of each holder's lease. */
type LeaseEnds = Map<string, number>;

/**
 * The leases of a subject that were renewed by saves in the registry. They count like those that are held here (`src/stores/in-process.ts` joins
 * both).
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
