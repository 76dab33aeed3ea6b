import type { Hub } from '../channel/hub.ts';
import type { CallBudgets } from '../metering/call-budgets.ts';
import type { Metering } from '../metering/contract.ts';
import type { VoiceCalls } from '../calls/voice-calls.ts';
import type { ActivityWriter } from '../operator/activity-writer.ts';
import type { Feed } from '../feed/feed.ts';
import type { JournalWriter } from '../operator/journal/writer.ts';
import type { Inspector } from '../operator/inspector.ts';
import type { Presence } from '../operator/presence.ts';
import type { SessionNotes } from '../operator/journal/session-notes.ts';
import { repeat } from '../kernel/repeat.ts';
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
const PURGE_MS = 10 * 60_000;
const RECOUNT_MS = 60 * 60_000;

export interface BackgroundDeps {
  readonly recovery: SweepDeps;
  readonly hub: Pick<Hub, 'tick'>;
  readonly metering: Pick<Metering, 'flush'>;
  readonly journalWriter: Pick<JournalWriter, 'flush'>;
  readonly sessionNotes: Pick<SessionNotes, 'tick'>;
  readonly activityWriter: Pick<ActivityWriter, 'flush'>;
  readonly presence: Pick<Presence, 'beat' | 'write'>;
  readonly feed: Pick<Feed, 'tick' | 'count'>;
  /** With INSPECT alone. */
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
 * what happened, counting what went on, saying that this process is here, warning the clients of ends that are
 * near, telling operators what happens, carrying over what older builds wrote, deleting what is over, mending counts. @returns the way to stop it
 */
export function startBackground(deps: BackgroundDeps): () => Promise<unknown> {
  const { recovery, hub, calls, metering, journalWriter, activityWriter, presence, feed, inspector } = deps;
  const { budgets, sessionNotes, carryOver, purge, recount, onError } = deps;
  const stops = [
    repeat(SWEEP_MS, () => sweep(recovery), onError),
    repeat(FLUSH_MS, () => recovery.writer.flush(), onError),
    repeat(FLUSH_MS, () => metering.flush(), onError),
    repeat(FLUSH_MS, async () => sessionNotes.tick(), onError),
    repeat(FLUSH_MS, () => journalWriter.flush(), onError),
    repeat(ACTIVITY_MS, () => activityWriter.flush(), onError),
    repeat(ACTIVITY_MS, () => presence.write(), onError),
    repeat(PRESENCE_MS, () => presence.beat(), onError),
    repeat(TICK_MS, async () => hub.tick(), onError),
    repeat(FEED_MS, async () => feed.tick(), onError),
    repeat(FEED_MS, () => feed.count(), onError),
    repeat(TICK_MS, () => budgets.tick(), onError),
    repeat(CARRY_MS, carryOver, onError),
    repeat(PURGE_MS, purge, onError),
    repeat(RECOUNT_MS, recount, onError),
  ];
  if (inspector !== undefined) stops.push(repeat(FEED_MS, async () => inspector.tick(), onError));
  if (calls !== undefined)
    stops.push(
      repeat(CALLS_MS, () => calls.tick(), onError),
      // Apart from what waits for the database.
      repeat(CALLS_MS, async () => calls.guard(), onError),
      repeat(LEASE_MS, () => calls.renewLease(), onError),
    );
  return () => Promise.all(stops.map((stop) => stop()));
}
