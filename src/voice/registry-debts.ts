import { laterOf } from '../../machines/voice-session/merge.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { CatchUp } from './catch-up.ts';

/**
 * Records of which the live stores must still hear something: they were away or took no writes when it happened. The history has them,
 * and the live stores get them when they are back, so that no session that ended meanwhile comes to life again or keeps its slot.
 * Bounded by the sessions that were heard of during the outage.
 */
export class RegistryDebts {
  readonly #catchUp: CatchUp;
  readonly #history: Pick<VoiceHistory, 'endedAmong'>;
  readonly #owed = new Map<string, VoiceRecord>();

  constructor(catchUp: CatchUp, history: Pick<VoiceHistory, 'endedAmong'>) {
    this.#catchUp = catchUp;
    this.#history = history;
  }

  /** What this node knows of a record and the live stores may not. */
  of(id: string): VoiceRecord | undefined {
    return this.#owed.get(id);
  }

  add(record: VoiceRecord): void {
    this.#owed.set(record.id, record);
  }

  get size(): number {
    return this.#owed.size;
  }

  /** Pays what is owed. @throws Unavailable when the live stores or the history are away; the rest stays owed. */
  async pay(): Promise<void> {
    const owed = [...this.#owed.values()];
    if (owed.length === 0) return;
    const over = new Map(
      (await this.#history.endedAmong(owed.map(({ id }) => id))).map((record) => [record.id, record]),
    );
    const paying = await Promise.allSettled(owed.map(async (record) => this.#payOne(record, over.get(record.id))));
    const failed = paying.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #payOne(owed: VoiceRecord, over: VoiceRecord | undefined): Promise<void> {
    const isPaid = await this.#catchUp(over === undefined ? owed : laterOf(over, owed));
    // Else somebody was first: the next payment sees what became of it.
    if (isPaid && this.#owed.get(owed.id) === owed) this.#owed.delete(owed.id);
  }
}

/** Answers with `otherwise` where the registry is away, and goes on throwing every other fault. */
export function ifRegistryAway<T>(otherwise: () => T): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Unavailable && fault.dependency === 'registry') return otherwise();
    throw fault;
  };
}
