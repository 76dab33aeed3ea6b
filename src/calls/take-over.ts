import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
import { settleAll } from '../kernel/async.ts';
import type { Orphan, VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import { CALLS_LEASE_MS } from '../node/lease.ts';
import type { CallHolder } from './call-holder.ts';
import type { HeldCall } from './held-call.ts';

/** Most calls taken in one look; the others are left to other nodes, or to the next look. */
const MAX_TAKEN = 1000;
const MAX_CONCURRENT = 50;
/** A save that the database has not answered for this long is no longer carried out: the database's own deadlines are shorter. */
const DOUBT_MS = 10_000;

/** A call that this node may or may not have taken, because the database did not answer. */
export interface DoubtfulTake {
  readonly orphan: Orphan;
  /** The save may still be carried out until then. */
  readonly untilMs: number;
}

interface TakeOverDeps extends CallHolder {
  /** By call id. */
  readonly doubtful: Map<string, DoubtfulTake>;
}

/** Takes over the calls of dead nodes; of several nodes that try, one gets each call. @throws Unavailable when the database is away */
export async function takeOrphans(deps: TakeOverDeps): Promise<void> {
  const { store, accounts, clock, lease, doubtful } = deps;
  const at = clock.now();
  const orphans = await store.orphans(at, accounts.fingerprints, MAX_TAKEN);
  /**
   * The owner's lease lapsed because it could not renew, and it may still return. An owner whose lease runs merely lacks the credential to hang up;
   * one without a row has left.
   */
  const mayBeHeld = ({ ownerUntilMs }: Orphan): boolean =>
    ownerUntilMs !== null && ownerUntilMs <= at && lease.mayOthersReturn;
  const present = new Set(orphans.map(({ id }) => id));
  const doubts = [...doubtful.values()].filter(({ orphan: { id } }) => !present.has(id));
  const takes = [
    ...orphans.filter((orphan) => !mayBeHeld(orphan)).map((orphan) => ({ orphan, isOrphan: true })),
    ...doubts.map(({ orphan }) => ({ orphan, isOrphan: false })),
  ];
  await settleAll(takes, ({ orphan, isOrphan }) => take(orphan, isOrphan, deps), MAX_CONCURRENT);
}

/** @param isOrphan whether no node holds the call; false if its owner has renewed its lease, or if this node took it in a take that was in doubt */
async function take(orphan: Orphan, isOrphan: boolean, deps: TakeOverDeps): Promise<void> {
  const { id, sessionId, fence, ownerUntilMs } = orphan;
  const { accounts, host, setups, clock, events, doubtful, hold } = deps;
  const { node } = deps.lease;
  // Read before taking the call: a node that took it and then failed to hold it would hang it up without marking what nobody heard.
  const setup = await setups.find(sessionId);
  const at = clock.now();
  const doubt = doubtful.get(id);
  // The owner's lease ran from its last sign of life on.
  const unheardSinceMs = ownerUntilMs === null ? at : Math.min(at, ownerUntilMs - CALLS_LEASE_MS);
  const isTakenInDoubt = (present: CallRecord): boolean =>
    doubtful.has(id) && present.ownerNode === node && present.fence === fence + 1;
  const mayTake = (present: CallRecord): boolean => (isOrphan && present.fence === fence) || isTakenInDoubt(present);
  const isForeign = accounts.of(orphan) === undefined;
  const event: CallEvent = { type: 'TAKEN', at, node, unheardSinceMs, isForeign };
  const outcome = await Promise.resolve(host.send(id, event, mayTake)).catch((fault: unknown) => {
    doubtful.set(id, { orphan, untilMs: at + DOUBT_MS });
    throw fault;
  });
  const isStillDoubtful = outcome === undefined && !isOrphan && at < (doubt?.untilMs ?? 0);
  if (!isStillDoubtful) doubtful.delete(id);
  if (outcome === undefined || outcome.record.fence === fence) return;
  const { record } = outcome;
  events.callTaken(record);
  if (isForeign && record.state !== 'closed') events.callForeign(record);
  if (record.state === 'closed') return;
  const call = hold(record, setup);
  call.noteTaken(unheardSinceMs);
  call.follow();
}

/**
 * Reloads held calls that other nodes may have changed: they end calls, take those that this node has no credential for, and hear about calls that
 * pages open. A call that no longer belongs to this node is let go.
 * @throws Unavailable
 */
export async function reloadChangedCalls(held: Iterable<HeldCall>, store: Pick<CallStore, 'load'>): Promise<void> {
  const touched = [...held].filter(
    ({ isForeign, record }) => isForeign || record.state === 'closing' || record.state === 'creating',
  );
  await Promise.all(
    touched.map(async (call) => {
      const record = await store.load(call.record.id);
      if (record !== undefined) call.applyRecord(record);
    }),
  );
}
