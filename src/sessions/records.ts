import { laterOf } from '../../machines/voice-session/merge.ts';
import {
  durationSec,
  idleSec,
  isAsRestored,
  nextDeadline,
  slotUntilMs,
} from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { RecordStore } from '../actors/host.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import { type Clock, iso, SECOND_MS } from '../kernel/time.ts';
import { ifAway } from '../kernel/errors.ts';
import type { SessionView } from '../protocol/session.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { NoteSession } from '../stores/journal/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { CountedSave, VoiceRegistry } from '../stores/voice-registry/contract.ts';
import type { UncountedRequest } from '../stores/windows/contract.ts';
import { HeartbeatBuffer } from './heartbeat-buffer.ts';
import { historyWindowMs, withBenefit, type HistoryWriter } from './history-writer.ts';
import type { Outage } from './recovery/outage.ts';
import type { PendingWrites } from './recovery/pending-writes.ts';

/** Hears when a client was silent for longer than this between two heartbeats. */
export interface NoteSilences {
  readonly longerThanMs: number;
  readonly note: NoteSession;
}

/** A client that misses one heartbeat may have a slow network; a longer silence than this is worth noting. */
export function longestSilenceMs(heartbeatIntervalSec: number): number {
  return 2 * heartbeatIntervalSec * 1000;
}

export interface VoiceRecordsDeps {
  readonly registry: VoiceRegistry;
  readonly history: VoiceHistory;
  readonly writer: HistoryWriter;
  readonly outage: Outage;
  readonly pendingWrites: PendingWrites;
  readonly bus: Pick<Bus, 'subscribe' | 'followed'>;
  readonly limits: VoiceLimits;
  readonly clock: Clock;
  readonly silence?: NoteSilences | undefined;
}

const ID_SHAPE = /^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/;

/** Most entries of sessions that were loaded during an outage but not changed; beyond this they are forgotten. */
const MAX_APART = 10_000;
/** Stands in place of a version: the registry did not save a change. It may be able to read but not to write. */
const NOT_SAVED = -1;

/**
 * Voice records for the actor host: from the live registry first; from the history for what the registry has lost or dropped, and for everything
 * while the registry is away or takes no writes (docs/architecture.md, section 5). Saves are noted for the history; for heartbeats, only those that
 * begin a window (see `historyWindowMs`).
 */
export class VoiceRecords implements RecordStore<VoiceRecord> {
  /** Beats that were answered but that the registry does not have yet; undefined where the registry is told at once. */
  readonly beats: HeartbeatBuffer | undefined;
  readonly #deps: VoiceRecordsDeps;
  /**
   * Sessions served without the registry, used only while it is not up. Either the version that was loaded without it, because changes to that
   * version are saved without it as well; or NOT_SAVED, so that the next load skips the registry.
   */
  readonly #apart = new Map<string, number>();

  readonly #windowMs: number;
  readonly #silentMs: number;

  constructor(deps: VoiceRecordsDeps) {
    this.#deps = deps;
    const { followed } = deps.bus;
    const noteSaved = this.#noteSaved.bind(this);
    this.beats = followed && new HeartbeatBuffer({ ...deps, followed, noteSaved });
    this.#windowMs = historyWindowMs(deps.limits);
    this.#silentMs = deps.silence?.longerThanMs ?? Infinity;
  }

  recall(id: string): VoiceRecord | undefined {
    const { outage, pendingWrites, registry } = this.#deps;
    if (outage.state !== 'up' || pendingWrites.waiting.size > 0) return undefined;
    const recalled = this.beats?.recall(id) ?? registry.recall(id);
    return recalled === undefined || this.#isDue(recalled) ? undefined : recalled;
  }

  /** @throws Unavailable when the registry is away, or does not know the session, and the history is away as well */
  load(id: string): Eventually<VoiceRecord | undefined> {
    if (!ID_SHAPE.test(id)) return undefined;
    // Flushed first, so that the registry's record includes every beat that this node has answered.
    const flushing = this.beats?.flushOne(id);
    return flushing instanceof Promise ? flushing.then(() => this.#load(id)) : this.#load(id);
  }

  #load(id: string): Eventually<VoiceRecord | undefined> {
    if (this.#apart.get(id) === NOT_SAVED) return this.#loadApart(id);
    const loading = andThen(this.#deps.registry.load(id), (held) => this.#upToDate(id, held));
    return loading instanceof Promise ? loading.catch(this.#ifAway(() => this.#loadApart(id))) : loading;
  }

  save(record: VoiceRecord, expectedVersion: number): Eventually<boolean> {
    const { registry, outage, limits } = this.#deps;
    if (outage.state !== 'up' && this.#apart.get(record.id) === expectedVersion) return this.#saveApart(record);
    const version = this.beats?.savedVersion(record.id, expectedVersion) ?? expectedVersion;
    const before = registry.recall(record.id);
    const saving = registry.save(record, version, slotUntilMs(record, limits));
    if (!(saving instanceof Promise)) return this.#noteIf(saving, record, version, before);
    return saving.then((isSaved) => this.#noteIf(isSaved, record, version, before), this.#ifNotSaved(record.id, false));
  }

  /** Like `VoiceRegistry.saveCounted`; resolves to undefined where the registry is away, which may still have saved and counted. */
  saveCounted(
    record: VoiceRecord,
    expectedVersion: number,
    request: UncountedRequest,
  ): Promise<CountedSave | undefined> | undefined {
    const { registry, limits } = this.#deps;
    const version = this.beats?.savedVersion(record.id, expectedVersion) ?? expectedVersion;
    const before = registry.recall(record.id);
    const saving = registry.saveCounted?.(record, version, slotUntilMs(record, limits), request);
    return saving?.then(
      (saved) => {
        this.#noteIf(saved.isSaved, record, version, before);
        return saved;
      },
      this.#ifNotSaved(record.id, undefined),
    );
  }

  /**
   * The record as the registry has it, unless it lost it; or the history's or this node's, where the registry is not believed and they know an end or
   * a later time. The registry alone is never believed that a session's time is up: a node that is gone may have heard of the session while it was
   * without the registry, and then only the history knows.
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
    // If the registry does not hold the session, only the history can tell.
    const known = await (held === undefined ? this.#known(id) : this.#known(id).catch(ifAway(() => undefined)));
    if (known === undefined) return held;
    const latest = held === undefined ? this.#withBenefit(known) : await this.#laterOf(held, known);
    if (latest === held || latest.endedAtMs !== null) return latest;
    await this.#deps.pendingWrites.write(latest);
    return this.#deps.registry.load(id);
  }

  async #laterOf(held: VoiceRecord, known: VoiceRecord): Promise<VoiceRecord> {
    const latest = laterOf(held, known);
    if (latest.endedAtMs !== null || !this.#isDue(latest)) return latest;
    // Both records may be older than the last heartbeat.
    return (await this.#deps.registry.mayBeOld(held.id)) ? laterOf(held, this.#withBenefit(known)) : latest;
  }

  #withBenefit(known: VoiceRecord): VoiceRecord {
    return withBenefit(known, this.#deps.clock.now(), this.#deps.limits);
  }

  async #loadApart(id: string): Promise<VoiceRecord | undefined> {
    this.#apart.delete(id);
    const known = await this.#known(id);
    // Only where it makes a difference: a heartbeat that comes now says more than the assumed activity.
    const record = known !== undefined && this.#isDue(known) ? this.#withBenefit(known) : known;
    if (this.#apart.size >= MAX_APART) this.#apart.clear();
    if (record !== undefined) this.#apart.set(id, record.version);
    return record;
  }

  /** The later of what the history and this node know. */
  async #known(id: string): Promise<VoiceRecord | undefined> {
    const { history, pendingWrites } = this.#deps;
    const pending = pendingWrites.waiting.get(id);
    if (pending === undefined) return history.find(id);
    // Another node may have ended it, or heard of it later.
    const kept = await history.find(id).catch(ifAway(() => undefined));
    return kept === undefined ? pending : laterOf(pending, kept);
  }

  /** The history must have the record before the caller is answered, because no other store does; the registry is told when it is back. */
  async #saveApart(record: VoiceRecord): Promise<boolean> {
    this.#apart.delete(record.id);
    this.#deps.pendingWrites.add(record);
    await this.#deps.writer.saveOrWait(record);
    return true;
  }

  #noteIf(isSaved: boolean, record: VoiceRecord, expectedVersion: number, before: VoiceRecord | undefined): boolean {
    if (!isSaved) return false;
    this.#noteSaved(record, expectedVersion, before);
    this.beats?.settle(record);
    return true;
  }

  /** @param before what this process remembered of the session before the save: the replaced record, if it has the expected version */
  #noteSaved(record: VoiceRecord, expectedVersion: number, before: VoiceRecord | undefined): void {
    const { waiting, heard } = this.#deps.writer;
    const isKnown = before?.version === expectedVersion && !isAsRestored(before);
    if (!isKnown || this.#beginsWindow(record, before) || waiting.has(record.id)) waiting.set(record.id, record);
    else heard.add(record.id);
    if (isKnown && record.lastSeenAtMs - before.lastSeenAtMs > this.#silentMs) this.#noteSilence(record, before);
  }

  /**
   * Whether the history needs this change. Activity has its own windows, because deadlines are counted from it; other heartbeats are written as
   * often. Written at once: a call that is no longer heard, because heartbeats count as activity again; and a new visitor's first words.
   */
  #beginsWindow(record: VoiceRecord, before: VoiceRecord): boolean {
    if (record.endedAtMs !== null || record.heardUntilMs < before.heardUntilMs) return true;
    if (record.wordsDueAtMs !== before.wordsDueAtMs) return true;
    const isActivity = record.lastActivityAtMs !== before.lastActivityAtMs;
    const [now, then] = isActivity
      ? [record.lastActivityAtMs, before.lastActivityAtMs]
      : [record.settledAtMs, before.settledAtMs];
    return this.#windowOf(record, now) !== this.#windowOf(record, then);
  }

  #windowOf({ startedAtMs }: VoiceRecord, atMs: number): number {
    return Math.floor((atMs - startedAtMs) / this.#windowMs);
  }

  #noteSilence({ id: sessionId, tenantId, lastSeenAtMs: atMs }: VoiceRecord, before: VoiceRecord): void {
    const silentSec = Math.round((atMs - before.lastSeenAtMs) / SECOND_MS);
    this.#deps.silence?.note({ sessionId, tenantId, atMs, kind: 'gap', detail: { silentSec } });
  }

  /**
   * The registry did not take the change. It was based on what the registry said, or on what this process remembered of it; others may know better,
   * so the next load asks the history.
   */
  #ifNotSaved<T>(id: string, answer: T): (fault: unknown) => T {
    return this.#ifAway(() => {
      this.#apart.set(id, NOT_SAVED);
      return answer;
    });
  }

  #ifAway<T>(otherwise: () => T): (fault: unknown) => T {
    return ifAway(() => {
      this.#deps.outage.send({ type: 'CALL_FAILED', at: performance.now() });
      return otherwise();
    }, 'registry');
  }
}

function areWordsDue({ wordsDueAtMs, endedAtMs }: VoiceRecord): boolean {
  return wordsDueAtMs > 0 && endedAtMs === null;
}

/** A record as its client sees it at a time. */
export function viewOf(record: VoiceRecord, at: number): SessionView {
  return {
    active: record.endedAtMs === null,
    startedAt: iso(record.startedAtMs),
    lastSeenAt: iso(record.lastSeenAtMs),
    durationSec: durationSec(record, at),
    idleSec: idleSec(record, at),
    ...(areWordsDue(record) && { endsAt: iso(record.wordsDueAtMs) }),
  };
}

/** `viewOf` as JSON.stringify would write it, at a fraction of the cost: nothing in it needs escaping. */
export function viewText(record: VoiceRecord, at: number): string {
  const { startedAtMs, lastSeenAtMs, endedAtMs, wordsDueAtMs } = record;
  const ends = areWordsDue(record) ? `,"endsAt":"${iso(wordsDueAtMs)}"` : '';
  return `{"active":${endedAtMs === null},"startedAt":"${iso(startedAtMs)}","lastSeenAt":"${iso(lastSeenAtMs)}","durationSec":${durationSec(record, at)},"idleSec":${idleSec(record, at)}${ends}}`;
}
