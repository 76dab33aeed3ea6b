import type { VoiceLimits, VoiceRecord } from '../../../machines/voice-session/types.ts';
import { ifAway } from '../../kernel/errors.ts';
import { settleAll } from '../../kernel/async.ts';
import type { LiveStores, Restore } from '../../stores/contract.ts';
import type { VoiceHistory } from '../../stores/voice-history/contract.ts';
import type { Share } from '../../stores/voice-registry/contract.ts';
import { withBenefit } from '../history-writer.ts';
import type { Outage } from './outage.ts';
import type { PendingWrites } from './pending-writes.ts';

/** Records that are processed together. */
const PAGE = 1000;
/** Ends that are looked up after an outage; after a longer one, the next heartbeat or deadline finds the rest. */
const MAX_MISSED_ENDS = 10_000;

export interface RestoreDeps {
  readonly live: Pick<LiveStores, 'registry' | 'clock' | 'restoreWhatIsLost'>;
  readonly history: Pick<VoiceHistory, 'active' | 'endedSince'>;
  readonly outage: Outage;
  readonly pendingWrites: PendingWrites;
  readonly limits: VoiceLimits;
}

/**
 * Puts the sessions that the history knows as live back into live stores that lost them, slots included, once over all nodes: run at the start, and
 * before every sweep. It is cheap while nothing is lost. Sessions that may have been heard later than the history knows are given that time
 * (`withBenefit`).
 * @param share where to look for losses
 * @throws Unavailable
 */
export async function restoreLost({ live, history, pendingWrites, limits }: RestoreDeps, share?: Share): Promise<void> {
  const restore: Restore = async (isLost, goesOn) => {
    let page = await history.active('', PAGE);
    while (page.length > 0) {
      const lost = page.filter(({ subject }) => isLost(subject));
      const at = live.clock.now();
      await settleAll(lost, (record) => pendingWrites.writeOrAdd(withBenefit(record, at, limits)));
      await goesOn();
      page = await history.active(page.at(-1)?.id ?? '', PAGE);
    }
  };
  await live.restoreWhatIsLost(restore, share);
}

/**
 * Tells the live stores about sessions that ended without them during the last outage: the node that should tell them may be gone. While the database
 * is away this is put off; deadlines do not wait for it.
 * @param at now, by the clock of the outage
 * @throws Unavailable when the live stores are away
 */
export async function endInRegistry(at: number, deps: RestoreDeps): Promise<void> {
  const { live, history, outage, pendingWrites } = deps;
  const missedForMs = outage.missedForMs(at);
  if (missedForMs === undefined) return;
  try {
    const ended = await history.endedSince(live.clock.now() - missedForMs, MAX_MISSED_ENDS);
    const endOne = async (record: VoiceRecord): Promise<void> => {
      const held = await live.registry.load(record.id);
      if (held?.endedAtMs === null) await pendingWrites.writeOrAdd(record);
    };
    await settleAll(ended, endOne, PAGE);
    outage.missedEndsAreTold(at);
  } catch (fault) {
    ifAway(() => undefined, 'database')(fault);
  }
}
