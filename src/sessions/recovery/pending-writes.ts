import { laterOf, restored } from '../../../machines/voice-session/merge.ts';
import { slotUntilMs } from '../../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../../machines/voice-session/types.ts';
import { chunksOf } from '../../kernel/collections.ts';
import { ifAway } from '../../kernel/errors.ts';
import { settleAll } from '../../kernel/async.ts';
import type { LiveStores } from '../../stores/contract.ts';
import type { VoiceHistory } from '../../stores/voice-history/contract.ts';
import type { HistoryWriter } from '../history-writer.ts';

/** Sessions that are looked up together. */
const PAGE = 1000;

export interface PendingWritesDeps {
  readonly live: Pick<LiveStores, 'registry' | 'slots'> & { readonly bus: Pick<LiveStores['bus'], 'publish'> };
  readonly history: Pick<VoiceHistory, 'endedAmong'>;
  readonly limits: VoiceLimits;
}

/**
 * Records that the live stores must still be told about, because they were away or took no writes when a session changed. The history has them, and
 * the live stores get them when they are back, so that no session that ended meanwhile counts as live again or keeps its slot. A record waits until
 * slot, record and announcement are all done. Bounded by the sessions that changed during the outage.
 */
export class PendingWrites {
  readonly #deps: PendingWritesDeps;
  readonly #waiting = new Map<string, VoiceRecord>();
  /** By session id, what this node knows and the live stores may not. */
  readonly waiting: ReadonlyMap<string, VoiceRecord> = this.#waiting;

  constructor(deps: PendingWritesDeps) {
    this.#deps = deps;
  }

  /** Makes a record wait for the next flush, merged with what is already waiting for its session. */
  add(record: VoiceRecord): void {
    const present = this.#waiting.get(record.id);
    this.#waiting.set(record.id, present === undefined ? record : laterOf(record, present));
  }

  /** Frees the slot of a saved record, now or when the live stores are back. */
  async freeSlot(record: VoiceRecord): Promise<void> {
    try {
      await this.#deps.live.slots.free(record.subject, record.id);
    } catch (fault) {
      ifAway(() => this.add(record), 'registry')(fault);
    }
  }

  /** Writes what is waiting. @throws Unavailable when the live stores or the history are away; what was not written goes on waiting */
  async flush(): Promise<void> {
    if (this.#waiting.size === 0) return;
    // Another node may have ended some of them.
    for (const ids of chunksOf([...this.#waiting.keys()], PAGE))
      for (const record of await this.#deps.history.endedAmong(ids)) this.add(record);
    await settleAll([...this.#waiting.values()], async (record) => {
      const isWritten = await this.write(record);
      // Otherwise somebody else wrote first, and the next flush looks again.
      if (isWritten && this.#waiting.get(record.id) === record) this.#waiting.delete(record.id);
    });
  }

  /** Writes a record now; if its session changed meanwhile, at the next flush. @throws Unavailable */
  async writeOrAdd(record: VoiceRecord): Promise<void> {
    if (!(await this.write(record))) this.add(record);
  }

  /**
   * Tells the live stores everything that they missed about a session which changed, or was kept, without them: slot, record and announcement.
   * Repeating it changes nothing. The slot comes first: where the registry's record is up to date, the slot is too.
   * @returns false when the registry's record changed meanwhile: then it must be done again
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
    // An ended session that the registry does not know need not be inserted: the history has it.
    return record.endedAtMs !== null || registry.insert(restored(record));
  }
}

/**
 * Makes sure that the history has a record and that its slot is free. While a store is away, the record waits with others to be written there, and
 * holds up nobody.
 * @returns whether the history has it
 */
export async function confirm(
  record: VoiceRecord,
  {
    writer,
    pendingWrites,
  }: { readonly writer: Pick<HistoryWriter, 'saveUnlessAway'>; readonly pendingWrites: PendingWrites },
): Promise<boolean> {
  const [isWritten] = await Promise.all([writer.saveUnlessAway(record), pendingWrites.freeSlot(record)]);
  return isWritten;
}
