import type { Hub } from '../channel/hub.ts';
import type { CallBudgets } from '../metering/call-budgets.ts';
import type { Metering } from '../metering/contract.ts';
import type { VoiceCalls } from '../calls/voice-calls.ts';
import type { ActivityWriter } from '../operator/activity-writer.ts';
import type { Feed } from '../feed/feed.ts';
import type { JournalWriter } from '../operator/journal/writer.ts';
import type { Inspector } from '../operator/inspector.ts';
import type { Presence } from '../node/presence.ts';
import type { SessionNotes } from '../operator/journal/session-notes.ts';
import { every } from '../kernel/every.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import { sweep, type SweepDeps } from '../voice/recovery/sweep.ts';

const SWEEP_MS = 500;
const FLUSH_MS = 1000;
const TICK_MS = 1000;
const CALLS_MS = 250;
const FEED_MS = 250;
const LEASE_MS = 1000;
const ACTIVITY_MS = 5000;
const PRESENCE_MS = 5000;
const CARRY_MS = 2000;
const PURGE_MS = 10 * MINUTE_MS;
const RECOUNT_MS = HOUR_MS;

export interface BackgroundDeps {
  readonly recovery: SweepDeps;
  readonly hub: Pick<Hub, 'tick'>;
  readonly metering: Pick<Metering, 'flush'>;
  readonly journalWriter: Pick<JournalWriter, 'flush'>;
  readonly sessionNotes: Pick<SessionNotes, 'tick'>;
  readonly activityWriter: Pick<ActivityWriter, 'flush'>;
  readonly presence: Pick<Presence, 'beat' | 'write'>;
  readonly feed: Pick<Feed, 'tick' | 'count'>;
  /** Undefined without the variable INSPECT. */
  readonly inspector?: Pick<Inspector, 'tick'> | undefined;
  readonly budgets: Pick<CallBudgets, 'tick'>;
  /** None where browsers open their calls themselves. */
  readonly calls?: Pick<VoiceCalls, 'guard' | 'renewLease' | 'tick'> | undefined;
  /** Carries into the journal what builds before it wrote elsewhere. */
  readonly carryOver: () => Promise<void>;
  /** Deletes what is over. */
  readonly purge: () => Promise<void>;
  /** Compares counts that are kept with what they count, and mends them. */
  readonly recount: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/**
 * Schedules the work that no request asks for: sweeping deadlines, writing the history, holding calls, counting usage that waits, writing
 * what happened, counting what went on, saying that this process is here, warning the clients of ends that are near, telling operators what
 * happens, carrying over what older builds wrote, deleting what is over, mending counts.
 * @returns the way to stop it
 */
export function startBackground(deps: BackgroundDeps): () => Promise<unknown> {
  const { recovery, hub, calls, metering, journalWriter, activityWriter, presence, feed, inspector } = deps;
  const { budgets, sessionNotes, carryOver, purge, recount, onError } = deps;
  const stops = [
    every(SWEEP_MS, () => sweep(recovery), onError),
    every(FLUSH_MS, () => recovery.writer.flush(), onError),
    every(FLUSH_MS, () => metering.flush(), onError),
    every(FLUSH_MS, async () => sessionNotes.tick(), onError),
    every(FLUSH_MS, () => journalWriter.flush(), onError),
    every(ACTIVITY_MS, () => activityWriter.flush(), onError),
    every(ACTIVITY_MS, () => presence.write(), onError),
    every(PRESENCE_MS, () => presence.beat(), onError),
    every(TICK_MS, async () => hub.tick(), onError),
    every(FEED_MS, async () => feed.tick(), onError),
    every(FEED_MS, () => feed.count(), onError),
    every(TICK_MS, () => budgets.tick(), onError),
    every(CARRY_MS, carryOver, onError),
    every(PURGE_MS, purge, onError),
    every(RECOUNT_MS, recount, onError),
  ];
  if (inspector !== undefined) stops.push(every(FEED_MS, async () => inspector.tick(), onError));
  if (calls !== undefined)
    stops.push(
      every(CALLS_MS, () => calls.tick(), onError),
      // Needs no database, and is not held up by what waits for one.
      every(CALLS_MS, async () => calls.guard(), onError),
      every(LEASE_MS, () => calls.renewLease(), onError),
    );
  return () => Promise.all(stops.map((stop) => stop()));
}
