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

export interface TakeOverDeps {
  readonly store: Pick<CallStore, 'orphans'>;
  readonly accounts: Accounts;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly clock: Clock;
  readonly events: Pick<Events, 'callTaken' | 'callForeign'>;
  readonly lease: Pick<NodeLease, 'node' | 'mayOthersReturn'>;
  /** Those of which nobody knows whether they were taken, because the database did not answer. */
  readonly doubtful: Map<string, Orphan>;
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
  const all = [...doubtful.values(), ...orphans.filter((one) => !doubtful.has(one.id) && !mayBeHeld(one))];
  await settleAll(all, (orphan) => take(orphan, deps), MAX_CONCURRENT);
}

async function take(orphan: Orphan, deps: TakeOverDeps): Promise<void> {
  const { id, sessionId, fence, ownerUntilMs } = orphan;
  const { accounts, host, setups, clock, events, doubtful, hold } = deps;
  const { node } = deps.lease;
  // Before the call is ours: a node that took it and could not hold it would hang it up without a word of what nobody heard.
  const setup = await setups.find(sessionId);
  const at = clock.now();
  // Its lease ran from its last sign of life on.
  const unheardSinceMs = ownerUntilMs === null ? at : Math.min(at, ownerUntilMs - CALLS_LEASE_MS);
  // Taken once more where it was taken in doubt.
  const isStillOrphan = (present: CallRecord): boolean =>
    present.fence === fence || (doubtful.has(id) && present.ownerNode === node && present.fence === fence + 1);
  const isForeign = accounts.of(orphan) === undefined;
  const event: CallEvent = { type: 'TAKEN', at, node, unheardSinceMs, isForeign };
  const outcome = await Promise.resolve(host.send(id, event, isStillOrphan)).catch((fault: unknown) => {
    doubtful.set(id, orphan);
    throw fault;
  });
  doubtful.delete(id);
  if (outcome === undefined || outcome.record.fence === fence) return;
  const { record } = outcome;
  events.callTaken(record);
  if (isForeign && record.state !== 'closed') events.callForeign(record);
  if (record.state !== 'closed') hold(record, setup, unheardSinceMs);
}

/** Other nodes end calls, and take those that this one cannot ask for: what is not this node's any more is let go of. @throws Unavailable */
export async function reloadChangedCalls(held: Iterable<HeldCall>, store: Pick<CallStore, 'load'>): Promise<void> {
  const touched = [...held].filter(({ isForeign, record }) => isForeign || record.state === 'closing');
  await Promise.all(
    touched.map(async (call) => {
      const record = await store.load(call.record.id);
      if (record !== undefined) call.note(record);
    }),
  );
}
