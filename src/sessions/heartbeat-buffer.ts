import { laterOf } from '../../machines/voice-session/merge.ts';
import { nextDeadline, slotUntilMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { ifAway } from '../kernel/errors.ts';
import type { Clock } from '../kernel/time.ts';
import { type Eventually, settleAll } from '../kernel/async.ts';
import { Lru } from '../kernel/collections.ts';
import type { Bus, FollowedSessions } from '../stores/bus/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import type { HistoryWriter } from './history-writer.ts';
import type { Outage } from './recovery/outage.ts';
import type { PendingWrites } from './recovery/pending-writes.ts';

/** If the deadline that the registry knows is nearer than this, the session could be closed before the registry hears of the beat that moves it. */
const MARGIN_MS = 5000;
/** If a beat waits longer than this, flushes are slow: the next beats of its session are saved before they are answered. */
const MAX_WAIT_MS = 1000;
/** How long after somebody else changed a session its beats are saved before they are answered. */
const SHARED_MS = 300_000;
const MAX_SHARED = 10_000;
/** Saves that run at once. */
const CHUNK = 1000;

export interface HeartbeatBufferDeps {
  readonly registry: Pick<VoiceRegistry, 'recall' | 'save'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly followed: Pick<FollowedSessions, 'hears'>;
  readonly outage: Pick<Outage, 'state' | 'send'>;
  readonly pendingWrites: Pick<PendingWrites, 'waiting' | 'add' | 'writeOrAdd'>;
  readonly writer: Pick<HistoryWriter, 'waiting'>;
  /** Notes a save for the history: which version it replaced, and what this process remembered of the session before. */
  readonly noteSaved: (record: VoiceRecord, versionBefore: number, before: VoiceRecord | undefined) => void;
  readonly limits: VoiceLimits;
  readonly clock: Clock;
}

/** What the registry is still to be told about one session. */
interface WaitingBeats {
  /** The record after the last answered beat. */
  record: VoiceRecord;
  /** The version that the registry has, as far as this node knows. */
  savedVersion: number;
  /** The deadline of that version. */
  deadlineMs: number;
  /** When the first beat came that the registry does not have yet. */
  sinceMs: number;
  saving?: Promise<void> | undefined;
}

/**
 * Heartbeats of sessions that this node follows because they have a socket here: a beat that moves no state is answered from memory, and all beats of
 * half a second are saved together. The record's version shows whether anybody else changed it meanwhile; then the later of the two times counts, and
 * an end wins (docs/decisions/0020-heartbeats-of-sockets-are-saved-together.md).
 */
export class HeartbeatBuffer {
  readonly #deps: HeartbeatBufferDeps;
  readonly #waiting = new Map<string, WaitingBeats>();
  /** Sessions that somebody else changes too: they cannot be answered from this node's memory. */
  readonly #shared = new Lru<{ readonly untilMs: number }>(MAX_SHARED);

  /** How many beats were taken so far. */
  taken = 0;

  constructor(deps: HeartbeatBufferDeps) {
    this.#deps = deps;
    deps.bus.subscribe({ 'session.moved': ({ sessionId }, isOwn) => !isOwn && this.#noteShared(sessionId) });
  }

  /** Sessions whose beats the registry does not have yet. */
  get size(): number {
    return this.#waiting.size;
  }

  /** The record after the waiting beats; undefined where none are waiting. */
  recall(id: string): VoiceRecord | undefined {
    return this.#waiting.get(id)?.record;
  }

  /** The registry's version of a record, of which this node may know a later version. */
  savedVersion(id: string, version: number): number {
    const waiting = this.#waiting.get(id);
    return waiting?.record.version === version ? waiting.savedVersion : version;
  }

  /**
   * Takes the record that a heartbeat made from `versionBefore`, if it may wait: this node hears what others do to the session, and no deadline is
   * near.
   * @returns false where it must be saved before the answer
   */
  take(record: VoiceRecord, versionBefore: number): boolean {
    const { followed, outage, pendingWrites } = this.#deps;
    const { id, settledAtMs: atMs } = record;
    if (!followed.hears(id) || outage.state !== 'up' || pendingWrites.waiting.size > 0) return false;
    if (this.#isShared(id, atMs)) return false;
    const waiting = this.#waiting.get(id) ?? this.#begin(id, versionBefore, atMs);
    if (waiting === undefined || waiting.record.version !== versionBefore) return false;
    if (waiting.deadlineMs - atMs < MARGIN_MS || atMs - waiting.sinceMs > MAX_WAIT_MS) return false;
    waiting.record = record;
    this.#waiting.set(id, waiting);
    this.taken += 1;
    return true;
  }

  /** Tells the buffer that a record was saved: beats that it includes need not be saved any more. */
  settle(record: VoiceRecord): void {
    const waiting = this.#waiting.get(record.id);
    if (waiting !== undefined && laterOf(record, waiting.record) === record) this.#waiting.delete(record.id);
  }

  /**
   * Saves what is waiting; call it twice a second. While the live stores are away, the records are left to `pendingWrites`, which writes them
   * afterwards.
   */
  async flush(): Promise<void> {
    await settleAll([...this.#waiting.keys()], (id) => this.flushOne(id), CHUNK);
  }

  /** Saves what is waiting of one session; returns at once where nothing is. */
  flushOne(id: string): Eventually<void> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    // A save that is under way does not include beats that came since.
    if (waiting.saving !== undefined) return waiting.saving.then(() => this.flushOne(id));
    waiting.saving = this.#save(id, waiting).finally(() => {
      waiting.saving = undefined;
    });
    return waiting.saving;
  }

  #begin(id: string, savedVersion: number, atMs: number): WaitingBeats | undefined {
    const record = this.#deps.registry.recall(id);
    if (record === undefined) return undefined;
    return { record, savedVersion, deadlineMs: nextDeadline(record, this.#deps.limits), sinceMs: atMs };
  }

  async #save(id: string, waiting: WaitingBeats): Promise<void> {
    const { registry, noteSaved, limits } = this.#deps;
    const { record, savedVersion } = waiting;
    const before = registry.recall(id);
    let isSaved: boolean;
    try {
      isSaved = await registry.save(record, savedVersion, slotUntilMs(record, limits));
    } catch (fault) {
      this.#keepApart(this.#remove(id, waiting).record, fault);
      return;
    }
    if (!isSaved) return this.#merge(this.#remove(id, waiting).record);
    noteSaved(record, savedVersion, before);
    if (waiting.record === record) this.#remove(id, waiting);
    else {
      waiting.savedVersion = record.version;
      waiting.deadlineMs = nextDeadline(record, limits);
      waiting.sinceMs = record.settledAtMs;
    }
  }

  /** Saves beats on top of what somebody else saved meanwhile. */
  async #merge(record: VoiceRecord): Promise<void> {
    const { registry, writer, pendingWrites } = this.#deps;
    const { id } = record;
    this.#noteShared(id);
    const present = registry.recall(id);
    // The beats change nothing any more, or the saved record includes them.
    if (present !== undefined && present.endedAtMs === null && laterOf(present, record) === present) return;
    const beats = present === undefined ? record : asHeard(record, present);
    try {
      await pendingWrites.writeOrAdd(beats);
    } catch (fault) {
      this.#keepApart(beats, fault);
      return;
    }
    const merged = registry.recall(id);
    if (merged !== undefined) writer.waiting.set(id, merged);
  }

  /** The answered beats go to the history with its next write, which nobody waits for, and to the registry once it is back. */
  #keepApart(record: VoiceRecord, fault: unknown): void {
    const { writer, outage, pendingWrites } = this.#deps;
    writer.waiting.set(record.id, record);
    ifAway(() => {
      outage.send({ type: 'CALL_FAILED', at: performance.now() });
      pendingWrites.add(record);
    })(fault);
  }

  #remove(id: string, waiting: WaitingBeats): WaitingBeats {
    if (this.#waiting.get(id) === waiting) this.#waiting.delete(id);
    return waiting;
  }

  #noteShared(id: string): void {
    this.#shared.set(id, { untilMs: this.#deps.clock.now() + SHARED_MS });
  }

  #isShared(id: string, atMs: number): boolean {
    const shared = this.#shared.get(id);
    return shared !== undefined && atMs < shared.untilMs;
  }
}

/** A heartbeat that is sent while a call is heard is no activity; only the registry's record knows whether a call is heard. */
function asHeard(record: VoiceRecord, { heardUntilMs, lastActivityAtMs }: VoiceRecord): VoiceRecord {
  const isHeard = record.lastSeenAtMs < heardUntilMs;
  return { ...record, heardUntilMs, lastActivityAtMs: isHeard ? lastActivityAtMs : record.lastActivityAtMs };
}
