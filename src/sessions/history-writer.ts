import { nextDeadline, savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { chunksOf } from '../kernel/collections.ts';
import { Unavailable, ifAway } from '../kernel/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import { grouped } from '../kernel/async.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';

/** Hears what the history finds out about the sessions that are written to it. */
export interface HistoryListener {
  /** A session has ended: called once over all nodes. */
  ended(record: VoiceRecord): void;
  /** A session that seemed to be live had ended before. */
  endedBefore(record: VoiceRecord): void;
}

/** One statement carries at most this many records. */
const BATCH = 1000;

/**
 * Carries changed records from the live registry to the history: some heartbeats in batches, transitions at once. While the database is away the
 * newest version of each record waits here, so the queue is bounded by the live sessions. The history keeps the newest version of a record, so the
 * order in which writes arrive does not matter.
 */
export class HistoryWriter {
  /** By id, the newest version that the history does not have yet; callers that change a record put it here. */
  readonly waiting = new Map<string, VoiceRecord>();
  /**
   * Sessions with a heartbeat that the history does not need: the next flush still looks up whether they have ended. That costs a lookup for each
   * heartbeat even when nothing is away, because a node that alone is cut off from the registry ends sessions in the history, and no other node can
   * notice that in another way (docs/operations.md, "What sockets are told when nodes cannot hear each other").
   */
  readonly heard = new Set<string>();
  readonly #history: VoiceHistory;
  readonly #limits: VoiceLimits;
  readonly #listener: HistoryListener;
  #isAway = false;
  /** Transitions that come together are written together, and do not wait for heartbeats. */
  readonly #saveTransition: (record: VoiceRecord) => Promise<void>;

  constructor(history: VoiceHistory, limits: VoiceLimits, listener: HistoryListener) {
    this.#history = history;
    this.#limits = limits;
    this.#listener = listener;
    this.#saveTransition = grouped(async (records) => {
      await this.#save(records);
      return records.map(() => undefined);
    }, BATCH);
  }

  /**
   * Writes what waits now, and looks up whether sessions in `heard` have ended; what arrives meanwhile waits for the next flush, so that this one
   * ends under any load.
   * @throws Unavailable when the database is away; nothing is lost, the records go on waiting.
   */
  async flush(): Promise<void> {
    const records = [...this.waiting.values()];
    const heard = [...this.heard];
    this.heard.clear();
    for (const some of chunksOf(records, BATCH)) {
      await this.#save(some);
      await this.#tellEnded(some.filter(({ endedAtMs }) => endedAtMs === null).map(({ id }) => id));
    }
    for (const some of chunksOf(heard, BATCH)) await this.#tellEnded(some);
  }

  /** Reports sessions that the registry holds as live although they have ended: it was away at their end. */
  async #tellEnded(live: readonly string[]): Promise<void> {
    for (const record of await this.#history.endedAmong(live)) this.#listener.endedBefore(record);
  }

  /**
   * Writes a record now; when the database is away, it waits for the next flush (docs/architecture.md, section 5).
   * @returns whether it is written
   */
  saveOrWait(record: VoiceRecord): Promise<boolean> {
    this.waiting.set(record.id, record);
    return this.#saveTransition(record).then(
      () => true,
      ifAway(() => false),
    );
  }

  /** Like `saveOrWait`, but does not try a database that did not take the last write: `flush` finds out when it does again. */
  async saveUnlessAway(record: VoiceRecord): Promise<boolean> {
    this.waiting.set(record.id, record);
    return !this.#isAway && this.saveOrWait(record);
  }

  /** @throws Unavailable when the database is away */
  async #save(records: readonly VoiceRecord[]): Promise<void> {
    const rows = records.map((record) => ({ record, state: savedState(record, this.#limits) }));
    const saved = await this.#history.save(rows).catch((error: unknown) => {
      this.#isAway = error instanceof Unavailable;
      throw error;
    });
    const ended = new Set(saved.ended);
    if (rows.length > 0) this.#isAway = false;
    for (const record of records) {
      if (this.waiting.get(record.id) === record) this.waiting.delete(record.id);
      if (record.endedAtMs !== null && ended.delete(record.id)) this.#listener.ended(record);
    }
  }
}

/**
 * A session's life is divided into windows of this many milliseconds, counted from its start; the history gets the first heartbeat of each window. So
 * its last activity there is never a whole window behind the registry's, unless a write was lost with its node.
 */
export function historyWindowMs({ maxIdleSec }: VoiceLimits): number {
  return Math.max(MINUTE_MS, (maxIdleSec * SECOND_MS) / 4);
}

/** How much later than the history says a session may have been active, in milliseconds, even if one write was lost with its node. */
export function benefitMs(limits: VoiceLimits): number {
  return 2 * historyWindowMs(limits);
}

/**
 * How to treat an engaged session that only the history knows: as active as lately as the history may have missed. If it is due even so, the record
 * stays as the history has it, so that its end is dated by the last known activity.
 * @param at now
 */
export function withBenefit(known: VoiceRecord, at: number, limits: VoiceLimits): VoiceRecord {
  // Transitions are written at once: only heartbeats can be missing.
  if (savedState(known, limits) !== 'engaged') return known;
  const lastActivityAtMs = Math.max(known.lastActivityAtMs, Math.min(at, known.lastActivityAtMs + benefitMs(limits)));
  const active = { ...known, lastActivityAtMs };
  return nextDeadline(active, limits) <= at ? known : active;
}
