import type { Traced } from '../actors/trace.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { ActorEvents, LostEvents, NewActorEvent } from '../stores/actor-events/contract.ts';
import { describeTraced, type HostedRecords } from './actor-event.ts';

/** Events that a node keeps while the database is slow or away. */
const MOST_WAITING = 10_000;
/** Of these places the last are for ends: an operator asks for them first. */
const KEPT_FOR_ENDS = 2_000;
/** One statement carries at most this many. */
const BATCH = 500;

export interface EventWriterDeps {
  readonly store: Pick<ActorEvents, 'append' | 'noteLost'>;
  /** Who writes. */
  readonly node: string;
  /** Hears of each event for which there was no room. */
  readonly onDropped: () => void;
  /** Hears of a batch that the database will never take. */
  readonly onError: (error: unknown) => void;
}

/**
 * Carries what machines did to their history, in batches and after the fact: nobody waits for it. What there is no room for is counted, and
 * the time in which that happened is written down.
 */
export class EventWriter {
  readonly #deps: EventWriterDeps;
  readonly #waiting: NewActorEvent[] = [];
  #lost: LostEvents | undefined;
  #flushing: Promise<void> | undefined;

  constructor(deps: EventWriterDeps) {
    this.#deps = deps;
  }

  /** Events that wait to be written. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Notes what an actor did, where that says something. */
  note(traced: Traced<HostedRecords>): void {
    const event = describeTraced(traced, this.#deps.node);
    if (event === undefined) return;
    const room = event.kind === 'ended' ? MOST_WAITING : MOST_WAITING - KEPT_FOR_ENDS;
    if (this.#waiting.length < room) this.#waiting.push(event);
    else this.#drop(event);
  }

  /**
   * Writes what waits now; what comes meanwhile waits for the next time. Whoever asks while that is under way waits for it.
   * @throws Unavailable when the database is away; nothing is lost, the events go on waiting
   */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= BATCH) {
      const batch = this.#waiting.slice(0, Math.min(BATCH, left));
      await this.#append(batch);
      this.#waiting.splice(0, batch.length);
    }
    const lost = this.#lost;
    if (lost === undefined) return;
    this.#lost = undefined;
    try {
      await this.#deps.store.noteLost(lost);
    } catch (error) {
      this.#lost = this.#lost === undefined ? lost : join(lost, this.#lost);
      throw error;
    }
  }

  /** @throws Unavailable; any other fault is this batch's own, and would hold up all others for ever */
  async #append(batch: readonly NewActorEvent[]): Promise<void> {
    try {
      await this.#deps.store.append(batch);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      this.#deps.onError(error);
      for (const event of batch) this.#drop(event);
    }
  }

  #drop({ atMs }: NewActorEvent): void {
    const lost = { node: this.#deps.node, fromMs: atMs, toMs: atMs, count: 1 };
    this.#lost = this.#lost === undefined ? lost : join(this.#lost, lost);
    this.#deps.onDropped();
  }
}

function join(one: LostEvents, other: LostEvents): LostEvents {
  return {
    node: one.node,
    fromMs: Math.min(one.fromMs, other.fromMs),
    toMs: Math.max(one.toMs, other.toMs),
    count: one.count + other.count,
  };
}
