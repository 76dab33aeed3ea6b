/** What the feed tells of sessions, and what of it a list can show by itself. */
import type { SessionChange } from '../../../protocol/operator/feed.ts';
import type { Filter } from './filter.ts';
import type { Session } from './shapes.ts';

/** A reading may be older than what was told: so long it does not take that back. */
const HOLDS_MS = 10_000;

export interface Told {
  readonly change: SessionChange;
  /** When it was heard, by the clock of this machine. */
  readonly heardMs: number;
}

/** A session after a change. What it used in all, and when it was heard last, no change tells; an older node not what comes next. */
export function after(session: Session, { state, reason, at, next }: SessionChange): Session {
  return { ...session, state, endReason: reason, endedAt: state === 'ended' ? at : null, deadline: next ?? null };
}

/** A session as it was read, or as it was told since. */
export function reconciled(read: Session, told: Told | undefined, nowMs: number): Session {
  const isHeld = told !== undefined && nowMs - told.heardMs < HOLDS_MS && read.state !== told.change.state;
  return isHeld ? after(read, told.change) : read;
}

/** Whether a filter does not find a session any more that it found. */
export function isLeaving({ state, reason }: Filter, change: SessionChange): boolean {
  return !isIn(state, change.state) || !isIn(reason, change.reason);
}

/** Whether a list must be read again to show a change. */
export function isUntold(filter: Filter, change: SessionChange, isListed: boolean): boolean {
  // Its place may be another one.
  if ((filter.sort ?? '-startedAt') !== '-startedAt' || filter.endingWithinSec !== undefined) return true;
  // What it used in all is known now.
  if (isListed) return change.state === 'ended';
  return change.was === null && !isLeaving(filter, change);
}

function isIn(list: string | undefined, value: string | null): boolean {
  return list === undefined || list.split(',').some((one) => one === value);
}
