import type { CallEvent, CallFact, CallRecord } from '../../machines/voice-call/types.ts';
import type { Host } from '../actors/host.ts';
import type { Clock } from '../kernel/clock.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { SessionSetup, SessionSetups } from '../stores/session-setups/contract.ts';
import type { Orphan, VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { Accounts } from './accounts.ts';
import type { Events } from '../telemetry/events.ts';
import type { HeldCall } from './held-call.ts';
import { CALLS_LEASE_MS, type NodeLease } from '../node/lease.ts';

/** So many are taken at one look; the others are left to other nodes, or to the next. */
const MAX_TAKEN = 1000;
const MAX_CONCURRENT = 50;
/** A save that the database did not answer for so long is not carried out any more: its deadlines are shorter. */
const DOUBT_MS = 10_000;

/** A call of which nobody knows whether this node took it, because the database did not answer. */
export interface DoubtfulTake {
  readonly orphan: Orphan;
  /** Until then the save may still be carried out. */
  readonly untilMs: number;
}

export interface TakeOverDeps {
  readonly store: Pick<CallStore, 'orphans'>;
  readonly accounts: Accounts;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly clock: Clock;
  readonly events: Pick<Events, 'callTaken' | 'callForeign'>;
  readonly lease: Pick<NodeLease, 'node' | 'mayOthersReturn'>;
  /** By the ids of the calls. */
  readonly doubtful: Map<string, DoubtfulTake>;
  /** @param uncountedSinceMs until then all that the call used was counted */
  readonly hold: (record: CallRecord, setup: SessionSetup | undefined, uncountedSinceMs: number) => void;
}

/** Takes calls over whose nodes are dead; of several nodes that try, one gets each. @throws Unavailable when the database is away */
export async function takeOrphans(deps: TakeOverDeps): Promise<void> {
  const { store, accounts, clock, lease, doubtful } = deps;
  const at = clock.now();
  const orphans = await store.orphans(at, accounts.fingerprints, MAX_TAKEN);
  /** Of an owner that could not renew, and may now. One whose lease runs cannot hang the call up, and one without a row has left. */
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

/** @param isOrphan whether nobody holds it; else its owner has renewed its lease, or is this node since a take that was in doubt */
async function take(orphan: Orphan, isOrphan: boolean, deps: TakeOverDeps): Promise<void> {
  const { id, sessionId, fence, ownerUntilMs } = orphan;
  const { accounts, host, setups, clock, events, doubtful, hold } = deps;
  const { node } = deps.lease;
  // Before the call is ours: a node that took it and could not hold it would hang it up without a word of what nobody heard.
  const setup = await setups.find(sessionId);
  const at = clock.now();
  const doubt = doubtful.get(id);
  // Its lease ran from its last sign of life on.
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
  if (record.state !== 'closed') hold(record, setup, unheardSinceMs);
}

/**
 * Other nodes end calls, take those that this one cannot ask for, and are told of those that pages open: what is not this node's any more
 * is let go of. @throws Unavailable
 */
export async function reloadChangedCalls(held: Iterable<HeldCall>, store: Pick<CallStore, 'load'>): Promise<void> {
  const touched = [...held].filter(
    ({ isForeign, record }) => isForeign || record.state === 'closing' || record.state === 'creating',
  );
  await Promise.all(
    touched.map(async (call) => {
      const record = await store.load(call.record.id);
      if (record !== undefined) call.note(record);
    }),
  );
}
