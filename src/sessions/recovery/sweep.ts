import type { VoiceEvent, VoiceFact, VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { Host } from '../../actors/host.ts';
import { Unavailable } from '../../kernel/errors.ts';
import { settleAll } from '../../kernel/async.ts';
import type { LiveStores } from '../../stores/contract.ts';
import type { Share } from '../../stores/voice-registry/contract.ts';
import { CONFIRM_MS, forgottenAtMs } from '../deadlines.ts';
import type { HistoryWriter } from '../history-writer.ts';
import { confirm } from './pending-writes.ts';
import { restoreLost, endInRegistry, type RestoreDeps } from './restore.ts';

const BATCH = 500;
/** Short enough for another node to take over a dead node's claim in time: an end may be late by two seconds. */
const LEASE_MS = 1500;

export interface SweepDeps extends RestoreDeps {
  readonly live: RestoreDeps['live'] & Pick<LiveStores, 'probe'>;
  readonly host: Host<VoiceRecord, VoiceEvent, VoiceFact>;
  readonly writer: HistoryWriter;
}

/**
 * Repairs what an outage left behind, then closes everything that is due, once the live stores are complete and up to date. Nodes sweep about twice a
 * second; claims keep nodes that share a part from doing the same work.
 * @param share the parts of the live stores that this node looks at; by default all
 * @throws Unavailable when a store is away, and the first fault of a record
 */
export async function sweep(deps: SweepDeps, share?: Share): Promise<void> {
  const { live, outage, pendingWrites } = deps;
  const at = performance.now();
  try {
    await live.probe();
    outage.send({ type: 'ANSWERED', at });
    await pendingWrites.flush();
    await restoreLost(deps, share);
    await endInRegistry(at, deps);
    if (outage.isSettling(at)) return;
    while ((await closeDue(live.clock.now(), BATCH, LEASE_MS, deps, share)) === BATCH);
  } catch (fault) {
    if (fault instanceof Unavailable && fault.dependency === 'registry')
      outage.send({ type: 'SWEEP_FAILED', at: performance.now() });
    throw fault;
  }
}

/**
 * Lets the clock close what is due, and forgets what ended a while ago. A record that fails holds up no other; the first failure is thrown at the
 * end, and its claim lapses.
 * @returns how many records were looked at
 */
export async function closeDue(
  at: number,
  limit: number,
  leaseMs: number,
  deps: SweepDeps,
  share?: Share,
): Promise<number> {
  const due = await deps.live.registry.claimDue(at, limit, leaseMs, share);
  const ended: VoiceRecord[] = [];
  try {
    await settleAll(due, async (id) => {
      const outcome = await deps.host.send(id, { type: 'CLOCK', at });
      if (outcome?.facts.length === 0 && outcome.record.endedAtMs !== null) ended.push(outcome.record);
    });
  } finally {
    // All at once, so that they share statements and script calls.
    await settleAll(ended, (record) => forget(record, at, deps));
  }
  return due.length;
}

/**
 * Makes sure that the end is in the history, even if the node that made it died, and removes the record a while later: not before, so that nothing
 * registers the session again as live.
 */
async function forget(ended: VoiceRecord, at: number, deps: SweepDeps): Promise<void> {
  const { registry } = deps.live;
  const nextLookMs = (await confirm(ended, deps)) ? forgottenAtMs(ended) : at + CONFIRM_MS;
  await (at >= nextLookMs ? registry.remove(ended.id) : registry.postpone(ended.id, nextLookMs));
}
