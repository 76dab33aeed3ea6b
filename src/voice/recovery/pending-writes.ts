import { laterOf, restored } from '../../../machines/voice-session/merge.ts';
import { slotUntilMs } from '../../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../../machines/voice-session/types.ts';
import { chunksOf } from '../../kernel/chunks.ts';
import { ifAway } from '../../kernel/errors.ts';
import { settleAll } from '../../kernel/settle-all.ts';
import type { LiveStores } from '../../stores/contract.ts';
import type { VoiceHistory } from '../../stores/voice-history/contract.ts';

/** Sessions that are looked up together. */
const PAGE = 1000;

export interface PendingWritesDeps {
  readonly live: Pick<LiveStores, 'registry' | 'slots'> & { readonly bus: Pick<LiveStores['bus'], 'publish'> };
  readonly history: Pick<VoiceHistory, 'endedAmong'>;
  readonly limits: VoiceLimits;
}

/**
 * Records of which the live stores must still be told something: they were away or took no writes when it happened. The history has them,
 * and the live stores get them when they are back, so that no session that ended meanwhile counts as live again or keeps its slot. A record
 * waits until all of it is done: slot, record and announcement. Bounded by the sessions that changed during the outage.
 */
export class PendingWrites {
  readonly #deps: PendingWritesDeps;
  readonly #waiting = new Map<string, VoiceRecord>();
  /** By the id of its session what this node knows of it and the live stores may not. */
  readonly waiting: ReadonlyMap<string, VoiceRecord> = this.#waiting;

  constructor(deps: PendingWritesDeps) {
    this.#deps = deps;
  }

  /** Lets a record wait for the next flush, together with what waits of its session already. */
  add(record: VoiceRecord): void {
    const present = this.#waiting.get(record.id);
    this.#waiting.set(record.id, present === undefined ? record : laterOf(record, present));
  }

  /** Frees the slot of a record that was saved, now or when the live stores are back. */
  async freeSlot(record: VoiceRecord): Promise<void> {
    try {
      await this.#deps.live.slots.free(record.subject, record.id);
    } catch (fault) {
      ifAway(() => this.add(record), 'registry')(fault);
    }
  }

  /** Writes what waits. @throws Unavailable when the live stores or the history are away; what was not written waits on */
  async flush(): Promise<void> {
    if (this.#waiting.size === 0) return;
    // Another node may have ended some of them.
    for (const ids of chunksOf([...this.#waiting.keys()], PAGE))
      for (const record of await this.#deps.history.endedAmong(ids)) this.add(record);
    await settleAll([...this.#waiting.values()], async (record) => {
      const isWritten = await this.write(record);
      // Else somebody was first: the next flush sees what became of it.
      if (isWritten && this.#waiting.get(record.id) === record) this.#waiting.delete(record.id);
    });
  }

  /** Writes a record now, or at the next flush when its session changed meanwhile. @throws Unavailable */
  async writeOrAdd(record: VoiceRecord): Promise<void> {
    if (!(await this.write(record))) this.add(record);
  }

  /**
   * Tells the live stores all that they missed of a session which changed, or was kept, without them: slot, record and announcement. To
   * do it again changes nothing. The slot comes first: wherever the registry's record is found to be up to date, its slot is as well.
   * @returns false when the registry's record changed meanwhile: then it is to be done again
   * @throws Unavailable
   */
  async write(known: VoiceRecord): Promise<boolean> {
    const { live, limits } = this.#deps;
    const held = await live.registry.load(known.id);
    const record = held === undefined ? known : laterOf(held, known);
    const untilMs = slotUntilMs(record, limits);
    if (untilMs === undefined) await live.slots.free(record.subject, record.id);
    else await live.slots.renew(record.subject, record.id, untilMs);
    if (!(await this.#writeRecord(record, held))) return false;
    const { id: sessionId, endReason } = record;
    if (endReason !== null) live.bus.publish({ type: 'session.moved', sessionId, state: 'ended', endReason });
    return true;
  }

  async #writeRecord(record: VoiceRecord, held: VoiceRecord | undefined): Promise<boolean> {
    const { registry } = this.#deps.live;
    if (record === held) return true;
    if (held !== undefined) return registry.save(restored(record, held), held.version);
    // Of an end that the registry has not heard of, and of whose session it does not know either, the history tells.
    return record.endedAtMs !== null || registry.insert(restored(record));
  }
}
