import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import type { CallEvent, CallRecord, CallFact, CallLimits } from '../../machines/voice-call/types.ts';
import { createHost } from '../actors/host.ts';
import { withTimeout, settleAll } from '../kernel/async.ts';
import { CALLS_LEASE_MS } from '../node/lease.ts';
import type { Orphan, VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { CallHolder, HeldCall } from './held-call.ts';
import type { CallDeps } from './deps.ts';

// Calls change nodes: a node that stops hands its calls over, and live nodes take those of nodes that are gone.

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

/** How long a stopping node waits for what its calls still do: tools that they have asked for, and goodbyes. */
const FINISH_MS = 5000;

/**
 * Hands calls to the other nodes. A node that could not count what it heard, or could not save when it stopped hearing, lets its lease lapse: the
 * node that takes its calls then marks a gap from this node's last sign of life on.
 * @throws Unavailable
 */
export async function handOverCalls(held: readonly HeldCall[], { metering, clock, lease }: CallDeps): Promise<void> {
  const at = clock.now();
  await metering.flush();
  await settleAll(held, (call) => call.handOver(at), MAX_CONCURRENT);
  await metering.flush();
  await lease.leaveCalls();
}

/** Whether another node will take the calls. @throws Unavailable */
async function areTaken(held: readonly HeldCall[], { nodes, clock, lease }: CallDeps): Promise<boolean> {
  return held.length === 0 || (await nodes.hasOther(lease.node, clock.now()));
}

/**
 * Waits a few seconds for running tools, and for goodbyes where no other node will take the calls: without one, nobody hears them from now on. What
 * is not answered by then is answered `interrupted` when the call is handed over.
 */
export async function finishCalls(held: readonly HeldCall[], deps: CallDeps): Promise<void> {
  const tools = held.map(({ pages }) => pages.toolsSettled());
  const goodbyes = sayGoodbyeUnlessTaken(held, deps).catch(deps.onError);
  await withTimeout(FINISH_MS, Promise.all([...tools, goodbyes]), deps.after);
}

/** @throws Unavailable */
async function sayGoodbyeUnlessTaken(held: readonly HeldCall[], deps: CallDeps): Promise<void> {
  if (await areTaken(held, deps)) return;
  const saying = held.filter(({ conversation }) => conversation.wrapUp('stopping'));
  await Promise.all(saying.map((call) => call.saidAll()));
}

/**
 * Cuts off what calls are saying, unless another node will take them: that node hears the speech and its cost; without one, nobody would count it.
 * @throws Unavailable
 */
export async function cutOffUnlessTaken(held: readonly HeldCall[], deps: CallDeps): Promise<void> {
  if (await areTaken(held, deps)) return;
  await settleAll(held, (call) => call.cutOff(), held.length);
}

/**
 * For a service that brokers no calls, or no longer does: calls of a former provider have no owner and get none. The clock alone closes each, as
 * unconfirmed, once its provider must have ended it: the first run marks it, and a run a minute later closes the record.
 * @throws Unavailable when the database is away
 */
export async function closeFormerCalls(store: CallStore, limits: CallLimits, at: number): Promise<void> {
  const machine = createVoiceCallMachine(limits);
  const host = createHost<CallRecord, CallEvent, CallFact>({
    machine,
    store,
    stateOf: ({ state }) => state,
    settled: () => undefined,
  });
  const isOver = ({ providerEndsAtMs, giveUpAtMs }: CallRecord): boolean => at >= (providerEndsAtMs ?? giveUpAtMs ?? 0);
  const orphans = await store.orphans(at, [], MAX_TAKEN);
  await settleAll(orphans, ({ id }) => host.send(id, { type: 'CLOCK', at }, isOver), MAX_CONCURRENT);
}
