import type { AtOnce } from '../../kernel/eventually.ts';
import type { Slots } from './contract.ts';

/** The end of each holder's lease; an object, so that a renewal moves a number and allocates nothing. */
type Leases = Map<string, { untilMs: number }>;

/** Subjects that are held before the first look for forgotten ones. */
const FIRST_CLEANING = 1024;

/** Concurrency slots in this process's memory; a lease has lapsed from its end on. */
export function createInProcessSlots(): AtOnce<Slots> {
  const subjects = new Map<string, Leases>();
  let cleaningSize = FIRST_CLEANING;

  /** Forgets subjects whose holders were never freed. It waits until their number has doubled, so that it costs next to nothing. */
  function clean(atMs: number): void {
    for (const [subject, leases] of subjects) {
      dropLapsed(leases, atMs);
      if (leases.size === 0) subjects.delete(subject);
    }
    cleaningSize = Math.max(FIRST_CLEANING, subjects.size * 2);
  }

  function leasesOf(subject: string): Leases {
    const present = subjects.get(subject);
    if (present !== undefined) return present;
    const leases: Leases = new Map();
    subjects.set(subject, leases);
    return leases;
  }

  return {
    take(subject, holder, limit, leaseUntilMs, atMs) {
      if (subjects.size >= cleaningSize) clean(atMs);
      const leases = leasesOf(subject);
      dropLapsed(leases, atMs);
      const admitted = leases.has(holder) || leases.size < limit;
      if (admitted) moveOn(leases, holder, leaseUntilMs);
      else if (leases.size === 0) subjects.delete(subject);
      return admitted;
    },

    renew(subject, holder, leaseUntilMs) {
      moveOn(leasesOf(subject), holder, leaseUntilMs);
    },

    confirm(subject, holder, leaseUntilMs) {
      moveOn(leasesOf(subject), holder, leaseUntilMs);
      return true;
    },

    free(subject, holder) {
      const leases = subjects.get(subject);
      if (leases?.delete(holder) === true && leases.size === 0) subjects.delete(subject);
    },

    count(subject, atMs) {
      let held = 0;
      for (const { untilMs } of subjects.get(subject)?.values() ?? []) if (untilMs > atMs) held += 1;
      return held;
    },
  };
}

/** Never backwards: what arrives late, or from a node whose clock is behind, shortens no lease. */
function moveOn(leases: Leases, holder: string, untilMs: number): void {
  const lease = leases.get(holder);
  if (lease === undefined) leases.set(holder, { untilMs });
  else if (untilMs > lease.untilMs) lease.untilMs = untilMs;
}

function dropLapsed(leases: Leases, atMs: number): void {
  for (const [holder, { untilMs }] of leases) if (untilMs <= atMs) leases.delete(holder);
}
