import { closeFormerCalls } from '../calls/handover.ts';
import { every } from '../kernel/async.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/time.ts';
import { reconcileWhatIsDue } from '../reconciliation/reconcile.ts';
import { SweepShare } from '../node/nodes.ts';
import { sweep } from '../sessions/recovery/sweep.ts';
import type { Service } from './compose.ts';
import type { Core } from './core.ts';
import { deleteWhatIsOver } from '../retention/retention.ts';

const SWEEP_MS = 500;
/** How much of the sockets' heartbeats a crash can lose. */
const BEATS_MS = 500;
const FLUSH_MS = 1000;
const TICK_MS = 1000;
const CALLS_MS = 250;
const FEED_MS = 250;
const WEBHOOKS_MS = 250;
const MAILS_MS = 2000;
const TRACES_MS = 1000;
const LEASE_MS = 1000;
const ACTIVITY_MS = 5000;
const PRESENCE_MS = 5000;
const CARRY_MS = 2000;
const PURGE_MS = 10 * MINUTE_MS;
const RECOUNT_MS = HOUR_MS;
/** How often every node checks whether a day is due. */
const RECONCILE_MS = 10 * MINUTE_MS;

/** Chunks of each table that one round carries at most, because the embedded database does nothing else meanwhile. */
const CHUNKS_A_ROUND = 10;

/**
 * Schedules the work that no request asks for: sweeping deadlines, writing the history, holding calls, counting buffered usage, writing
 * the journal, counting activity, announcing that this process is alive, warning clients of ends that are near, feeding operators,
 * delivering webhooks and mails, sending traces, carrying over what older builds wrote, deleting expired data, correcting counts, and
 * comparing the meter with the provider's bill.
 * @returns a function that stops it
 */
export function startBackground(service: Service): () => Promise<unknown> {
  const { core, sessions, usage, calls, webhooks, traces, hub, operators, reconciliation } = service;
  const { journal, onError } = core;
  const { recovery } = sessions;
  const { activityWriter, presence, feed, inspector } = operators;
  const { held } = calls;
  const share = new SweepShare({ node: core.node.id, nodes: core.nodes, bus: core.live.bus, clock: core.clock });
  const stops = [
    every(SWEEP_MS, () => sweep(recovery, share.present()), onError),
    every(BEATS_MS, async () => sessions.beats?.flush(), onError),
    every(FLUSH_MS, () => recovery.writer.flush(), onError),
    every(FLUSH_MS, () => usage.metering.flush(), onError),
    every(FLUSH_MS, async () => journal.sessionNotes.tick(), onError),
    every(FLUSH_MS, () => journal.writer.flush(), onError),
    every(ACTIVITY_MS, () => activityWriter.flush(), onError),
    every(ACTIVITY_MS, () => presence.write(), onError),
    every(PRESENCE_MS, () => presence.beat(), onError),
    every(TICK_MS, async () => hub.tick(), onError),
    every(FEED_MS, async () => feed.tick(), onError),
    every(FEED_MS, () => feed.count(), onError),
    every(TICK_MS, () => usage.budgets.tick(), onError),
    // On its own schedule, because it queries the database and must not delay warnings and ends that do not need it.
    every(TICK_MS, () => usage.budgets.followMinutes(), onError),
    every(WEBHOOKS_MS, () => webhooks.deliveries.tick(), onError),
    every(MAILS_MS, () => webhooks.mails.tick(), onError),
    every(MINUTE_MS, () => usage.budgetLimits.lookAtAll(core.clock.now()), onError),
    every(CARRY_MS, () => carryOver(core), onError),
    every(PURGE_MS, () => purge(service), onError),
    every(RECOUNT_MS, () => recount(core), onError),
  ];
  if (traces !== undefined) stops.push(every(TRACES_MS, () => traces.tick(), onError));
  if (reconciliation !== undefined) stops.push(every(RECONCILE_MS, () => reconcileWhatIsDue(reconciliation), onError));
  if (inspector !== undefined) stops.push(every(FEED_MS, async () => inspector.tick(), onError));
  if (held !== undefined)
    stops.push(
      every(CALLS_MS, () => held.tick(), onError),
      // Needs no database, so it must not wait behind work that does.
      every(CALLS_MS, async () => held.guard(), onError),
      every(LEASE_MS, () => held.renewLease(), onError),
    );
  return () => Promise.all(stops.map((stop) => stop()));
}

/** Carries over into the journal some of what older builds wrote. @throws Unavailable when the database is away; the next round continues */
export async function carryOver({ stores, clock }: Pick<Core, 'stores' | 'clock'>): Promise<void> {
  for (let chunk = 0; chunk < CHUNKS_A_ROUND && (await stores.formerTables.carrySome(clock.now())); chunk += 1);
}

async function purge({ core, usage, calls }: Service): Promise<void> {
  const { config, clock, stores, events, onError } = core;
  const { calendar } = usage;
  const at = clock.now();
  const countedFromMs = usage.budgetLimits.countedFromMs(at);
  const days = config.retentionDays;
  await deleteWhatIsOver(at, { retention: stores.retention, days, calendar, countedFromMs, onError });
  // Recounted just as often, because callers are refused while something is held back in vain.
  const wrong = (await stores.holds.recount()) ?? 0;
  if (wrong > 0) events.warned('sums of what sessions hold back were wrong, and are mended', { sums: wrong });
  if (calls.held === undefined) await closeFormerCalls(stores.calls, config.calls, clock.now());
}

/** Compares the stored counts of live sessions with a fresh count, and corrects them. */
async function recount({ stores, events }: Core): Promise<void> {
  const wrong = (await stores.history.recount()) ?? 0;
  if (wrong > 0) events.warned('counts of live sessions were wrong, and are mended', { counts: wrong });
}
