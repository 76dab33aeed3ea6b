import { Unavailable } from '../../kernel/errors.ts';
import { rowId } from '../../kernel/ids.ts';
import type { NoteKind } from '../../protocol/operator/event.ts';
import type { EntryKind, Journal, NewEntry } from '../../stores/journal/contract.ts';
import { shared } from '../../kernel/async.ts';
import type { TracedEvent } from '../../actors/trace.ts';
import type { ActResult } from '../../stores/journal/act-contract.ts';
import { transitionOf, type HostedRecords } from './events.ts';

/** Entries that one statement writes at most. */
const BATCH = 500;
/** Transitions and notes that a node buffers while the database is slow or away. */
const MAX_EVENTS = 10_000;
/** Refusals have a buffer of their own, so that a flood of them takes no room from what machines did. */
const MAX_REFUSALS = 5_000;
/** How full the buffer may be for each kind to be added: what operators need most has room longest. */
const ROOM_OF_TRANSITIONS = 8_000;
const ROOM_OF_NOTES: Readonly<Record<NoteKind, number>> = {
  gap: 7_000,
  warned: 7_000,
  attached: 6_000,
  detached: 6_000,
  usage: 6_000,
};

/** Is told of what happens as it enters the journal. Refusals have listeners of their own, see `Refusals.onKept`. */
export interface JournalListener {
  /** A voice session has ended; what is noted of it now comes before its last transition. */
  readonly sessionEnded?: (sessionId: string, atMs: number) => void;
  /** @param entry undefined where the journal does not keep it */
  readonly traced?: ((traced: TracedEvent<HostedRecords>, entry?: NewEntry<'transition'>) => void) | undefined;
  readonly noted?: (entry: NewEntry<'note'>, tenantId: string | null) => void;
  /** Called once the result of an act is known; for a bulk act once, with the count of what it changed. */
  readonly settled?: (entry: NewEntry<'act'>, result: ActResult, count: number | undefined) => void;
}

export interface JournalWriterDeps {
  readonly journal: Pick<Journal, 'append'>;
  /** This node. */
  readonly node: string;
  /** Called for each entry that is lost, because there was no room or the database will never accept it. */
  readonly onDropped: (kind: EntryKind) => void;
  /** Receives the faults of entries that the database will never accept. */
  readonly onError: (error: unknown) => void;
}

interface Loss {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/**
 * Writes entries to the journal in batches, behind the answer, and tells listeners at once: no caller waits for it. Entries for which there is no
 * room are counted, and for transitions and notes the span of the loss is written as well.
 */
export class JournalWriter {
  readonly #deps: JournalWriterDeps;
  readonly #listeners: JournalListener[] = [];
  #waiting: NewEntry[] = [];
  #refusals = 0;
  #lost: Loss | undefined;
  /** An earlier loss, until the database has it. */
  #lostEntry: NewEntry<'lost'> | undefined;

  constructor(deps: JournalWriterDeps) {
    this.#deps = deps;
  }

  /** Transitions and notes that wait to be written. */
  get events(): number {
    return this.#waiting.length - this.#refusals;
  }

  /** Refusals that wait to be written. */
  get refusals(): number {
    return this.#refusals;
  }

  listen(listener: JournalListener): void {
    this.#listeners.push(listener);
  }

  /** Takes in what an actor did. */
  readonly trace = (traced: TracedEvent<HostedRecords>): void => {
    if (traced.isFinal && traced.machine === 'voice-session')
      for (const { sessionEnded } of this.#listeners) sessionEnded?.(traced.record.id, traced.atMs);
    const entry = transitionOf(traced, this.#deps.node);
    if (entry !== undefined) this.add(entry);
    for (const listener of this.#listeners) listener.traced?.(traced, entry);
  };

  /** Takes in a note of a session. */
  readonly note = (entry: NewEntry<'note'>, tenantId: string | null): void => {
    this.add(entry);
    for (const { noted } of this.#listeners) noted?.(entry, tenantId);
  };

  /** Tells the result of an act, which is in the journal. */
  readonly settled = (entry: NewEntry<'act'>, result: ActResult, count: number | undefined): void => {
    for (const { settled } of this.#listeners) settled?.(entry, result, count);
  };

  /** Buffers an entry, or counts it as lost. */
  add(entry: NewEntry): void {
    const hasRoom = isRefusal(entry) ? this.#refusals < MAX_REFUSALS : this.events < roomOf(entry);
    if (!hasRoom) return this.#drop(entry);
    this.#waiting.push(entry);
    if (isRefusal(entry)) this.#refusals += 1;
  }

  /**
   * Writes what is buffered now; what is added meanwhile waits for the next call. Calls during a flush share it.
   * @throws Unavailable when the database is away; everything stays buffered
   */
  readonly flush = shared(() => this.#flush());

  /** Entries have ids, so that a batch that was written although it seemed to fail is not written twice. */
  async #flush(): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= BATCH) {
      const batch = this.#waiting.slice(0, Math.min(BATCH, left));
      await this.#append(batch);
    }
    this.#lostEntry ??= this.#takeLost();
    if (this.#lostEntry === undefined) return;
    await this.#deps.journal.append([this.#lostEntry]);
    this.#lostEntry = undefined;
  }

  #takeLost(): NewEntry<'lost'> | undefined {
    if (this.#lost === undefined) return undefined;
    const { fromMs, toMs, count } = this.#lost;
    this.#lost = undefined;
    const { node } = this.#deps;
    const detail = { fromMs, count };
    return { id: rowId(), kind: 'lost', atMs: toMs, node, requestId: null, of: {}, code: 'events', detail };
  }

  /** @throws Unavailable; any other fault lies in the entries themselves, which are dropped because they would block all others forever */
  async #append(batch: readonly NewEntry[]): Promise<void> {
    const { journal, onError } = this.#deps;
    try {
      await journal.append(batch);
      this.#remove(batch);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      const kinds = [...new Set(batch.map(({ kind }) => kind))];
      // Kinds are tried separately, so that bad entries which strangers can cause do not take down those of machines.
      if (kinds.length > 1) {
        for (const kind of kinds) await this.#append(batch.filter((entry) => entry.kind === kind));
        return;
      }
      onError(error);
      this.#remove(batch);
      for (const entry of batch) this.#drop(entry);
    }
  }

  /** Removes entries at once, so that they are neither written nor counted again if the rest of the batch has to wait. */
  #remove(batch: readonly NewEntry[]): void {
    const done = new Set(batch);
    this.#waiting = this.#waiting.filter((entry) => !done.has(entry));
    this.#refusals -= batch.filter(isRefusal).length;
  }

  #drop({ kind, atMs }: NewEntry): void {
    if (kind === 'transition' || kind === 'note') {
      const { fromMs = atMs, toMs = atMs, count = 0 } = this.#lost ?? {};
      this.#lost = { fromMs: Math.min(fromMs, atMs), toMs: Math.max(toMs, atMs), count: count + 1 };
    }
    this.#deps.onDropped(kind);
  }
}

function isRefusal({ kind }: NewEntry): boolean {
  return kind === 'refusal';
}

function roomOf(entry: NewEntry): number {
  if (entry.kind === 'note') return ROOM_OF_NOTES[entry.code];
  return entry.kind === 'transition' && entry.detail.change !== 'ended' ? ROOM_OF_TRANSITIONS : MAX_EVENTS;
}
