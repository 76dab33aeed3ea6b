import { laterOf } from '../../machines/voice-session/merge.ts';
import { durationSec, idleSec, nextDeadline, slotUntilMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { RecordStore } from '../actors/host.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { Clock } from '../kernel/clock.ts';
import { ifAway } from '../kernel/errors.ts';
import { iso } from '../kernel/time.ts';
import type { SessionView } from '../protocol/session.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { CountedSave, VoiceRegistry } from '../stores/voice-registry/contract.ts';
import type { UncountedRequest } from '../stores/windows/contract.ts';
import type { HistoryWriter } from './history-writer.ts';
import type { Outage } from './recovery/outage.ts';
import type { PendingWrites } from './recovery/pending-writes.ts';

export interface VoiceRecordsDeps {
  readonly registry: VoiceRegistry;
  readonly history: VoiceHistory;
  readonly writer: HistoryWriter;
  readonly outage: Readonly<Outage>;
  readonly pendingWrites: PendingWrites;
  readonly limits: VoiceLimits;
  readonly clock: Clock;
}

const ID_SHAPE = /^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/;

/** Look-ups during an outage that were followed by no change are forgotten beyond this. */
const MAX_APART = 10_000;
/** In the place of a version: the registry did not save a change. It may be one that can be read and not written. */
const NOT_SAVED = -1;

/**
 * Voice records for the actor host: the live registry first, the history for what the registry has lost or dropped, and for everything
 * while the registry is away or takes no writes (docs/architecture.md, section 5). Every save is noted for the history.
 */
export class VoiceRecords implements RecordStore<VoiceRecord> {
  readonly #deps: VoiceRecordsDeps;
  /**
   * Sessions that are served without the registry, of use only while it is not up: the version that was loaded without it, because what is
   * built on that is saved without it as well; or NOT_SAVED, and the next load leaves it out.
   */
  readonly #apart = new Map<string, number>();

  constructor(deps: VoiceRecordsDeps) {
    this.#deps = deps;
  }

  recall(id: string): VoiceRecord | undefined {
    const { outage, pendingWrites, registry } = this.#deps;
    const recalled = outage.state === 'up' && pendingWrites.waiting.size === 0 ? registry.recall(id) : undefined;
    return recalled === undefined || this.#isDue(recalled) ? undefined : recalled;
  }

  /** @throws Unavailable when the registry is away, or does not know the session, and the history is away */
  load(id: string): Eventually<VoiceRecord | undefined> {
    if (!ID_SHAPE.test(id)) return undefined;
    if (this.#apart.get(id) === NOT_SAVED) return this.#loadApart(id);
    const loading = andThen(this.#deps.registry.load(id), (held) => this.#upToDate(id, held));
    return loading instanceof Promise ? loading.catch(this.#ifAway(() => this.#loadApart(id))) : loading;
  }

  save(record: VoiceRecord, expectedVersion: number): Eventually<boolean> {
    const { registry, outage, limits } = this.#deps;
    if (outage.state !== 'up' && this.#apart.get(record.id) === expectedVersion) return this.#saveApart(record);
    const saving = registry.save(record, expectedVersion, slotUntilMs(record, limits));
    if (!(saving instanceof Promise)) return this.#noteIf(saving, record);
    return saving.then(
      (isSaved) => this.#noteIf(isSaved, record),
      // A change of what the registry told, or of what this process remembered of it: others may know better, and the history tells.
      this.#ifAway(() => {
        this.#apart.set(record.id, NOT_SAVED);
        return false;
      }),
    );
  }

  /** As `VoiceRegistry.saveCounted`; the promise answers undefined where the registry is away, and may have done it all the same. */
  saveCounted(
    record: VoiceRecord,
    expectedVersion: number,
    request: UncountedRequest,
  ): Promise<CountedSave | undefined> | undefined {
    const { registry, limits } = this.#deps;
    const saving = registry.saveCounted?.(record, expectedVersion, slotUntilMs(record, limits), request);
    return saving?.then(
      (saved) => {
        this.#noteIf(saved.isSaved, record);
        return saved;
      },
      this.#ifAway(() => {
        this.#apart.set(record.id, NOT_SAVED);
        return undefined;
      }),
    );
  }

  /**
   * The record as the registry tells it, unless it lost it, or is not believed and the history or this node knows that the session has
   * ended, or knows it at a later time. That time is up is never believed alone: a node that is gone may have heard of the session while it
   * was without the registry, and only the history knows.
   */
  #upToDate(id: string, held: VoiceRecord | undefined): Eventually<VoiceRecord | undefined> {
    const { outage, pendingWrites } = this.#deps;
    if (outage.state !== 'up') outage.send({ type: 'CLOCK', at: performance.now() });
    if (this.#apart.size > 0) this.#apart.delete(id);
    if (held === undefined) return this.#latest(id);
    const isBelieved = outage.state === 'up' && !pendingWrites.waiting.has(id) && !this.#isDue(held);
    return isBelieved || held.endedAtMs !== null ? held : this.#latest(id, held);
  }

  #isDue(record: VoiceRecord): boolean {
    return nextDeadline(record, this.#deps.limits) <= this.#deps.clock.now();
  }

  async #latest(id: string, held?: VoiceRecord): Promise<VoiceRecord | undefined> {
    // Of a session that the registry does not hold nobody else can tell.
    const known = await (held === undefined ? this.#known(id) : this.#known(id).catch(ifAway(() => undefined)));
    if (known === undefined) return held;
    const latest = held === undefined ? known : laterOf(held, known);
    if (latest === held || latest.endedAtMs !== null) return latest;
    await this.#deps.pendingWrites.write(latest);
    return this.#deps.registry.load(id);
  }

  async #loadApart(id: string): Promise<VoiceRecord | undefined> {
    this.#apart.delete(id);
    const record = await this.#known(id);
    if (this.#apart.size >= MAX_APART) this.#apart.clear();
    if (record !== undefined) this.#apart.set(id, record.version);
    return record;
  }

  /** What the history and this node know. */
  async #known(id: string): Promise<VoiceRecord | undefined> {
    const { history, pendingWrites } = this.#deps;
    const pending = pendingWrites.waiting.get(id);
    if (pending === undefined) return history.find(id);
    // Another node may have ended it, or heard of it later.
    const kept = await history.find(id).catch(ifAway(() => undefined));
    return kept === undefined ? pending : laterOf(pending, kept);
  }

  /** The history has it before the caller is answered, because nobody else does; the registry is told when it is back. */
  async #saveApart(record: VoiceRecord): Promise<boolean> {
    this.#apart.delete(record.id);
    this.#deps.pendingWrites.add(record);
    await this.#deps.writer.saveOrWait(record);
    return true;
  }

  #noteIf(isSaved: boolean, record: VoiceRecord): boolean {
    if (isSaved) this.#deps.writer.waiting.set(record.id, record);
    return isSaved;
  }

  #ifAway<T>(otherwise: () => T): (fault: unknown) => T {
    return ifAway(() => {
      this.#deps.outage.send({ type: 'CALL_FAILED', at: performance.now() });
      return otherwise();
    }, 'registry');
  }
}

/** A record as its client sees it at a time. */
export function viewOf(record: VoiceRecord, at: number): SessionView {
  return {
    active: record.endedAtMs === null,
    startedAt: iso(record.startedAtMs),
    lastSeenAt: iso(record.lastSeenAtMs),
    durationSec: durationSec(record, at),
    idleSec: idleSec(record, at),
  };
}

/** `viewOf` as JSON.stringify writes it, at a fraction of the cost: nothing in it needs escaping. */
export function viewText(record: VoiceRecord, at: number): string {
  const { startedAtMs, lastSeenAtMs, endedAtMs } = record;
  return `{"active":${endedAtMs === null},"startedAt":"${iso(startedAtMs)}","lastSeenAt":"${iso(lastSeenAtMs)}","durationSec":${durationSec(record, at)},"idleSec":${idleSec(record, at)}}`;
}
