import type { CallEvent, CallFact, CallRecord } from '../../machines/voice-call/types.ts';
import type { Host } from '../actors/host.ts';
import type { Clock } from '../kernel/clock.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { SessionSetup, SessionSetups } from '../stores/session-setups/contract.ts';
import type { Orphan, VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { LEASE_MS } from './node-lease.ts';

/** So many are taken at one look; the others are left to other nodes, or to the next. */
const AT_MOST = 1000;
const AT_ONCE = 50;

export interface TakeOverDeps {
  readonly store: Pick<CallStore, 'orphans'>;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly clock: Clock;
  readonly events: Pick<Events, 'callTaken'>;
  /** The name of this node. */
  readonly node: string;
  /** @param uncountedSinceMs until then all that the call used was counted */
  readonly hold: (record: CallRecord, setup: SessionSetup | undefined, uncountedSinceMs: number) => void;
}

/** Takes calls over whose nodes are dead; of several nodes that try, one gets each. @throws Unavailable when the database is away */
export async function takeOrphans(deps: TakeOverDeps): Promise<void> {
  const orphans = await deps.store.orphans(deps.clock.now(), AT_MOST);
  await settleAll(orphans, (orphan) => take(orphan, deps), AT_ONCE);
}

async function take({ id, sessionId, fence, ownerUntilMs }: Orphan, deps: TakeOverDeps): Promise<void> {
  const { host, setups, clock, events, node, hold } = deps;
  // Before the call is ours: a node that took it and could not hold it would hang it up without a word of what nobody heard.
  const setup = await setups.find(sessionId);
  const at = clock.now();
  // Its lease ran from its last sign of life on.
  const unheardSinceMs = ownerUntilMs === null ? at : Math.min(at, ownerUntilMs - LEASE_MS);
  const isStillOrphan = (present: CallRecord): boolean => present.fence === fence;
  const outcome = await host.send(id, { type: 'TAKEN', at, node, unheardSinceMs }, isStillOrphan);
  if (outcome === undefined || outcome.record.fence === fence) return;
  const { record } = outcome;
  events.callTaken(record);
  if (record.state !== 'closed') hold(record, setup, unheardSinceMs);
}
