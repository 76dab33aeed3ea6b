import type { Traced } from '../actors/trace.ts';
import type { ActorEventKind } from '../protocol/operator/event.ts';
import type { ActorEvents, LostEvents, NewActorEvent } from '../stores/actor-events/contract.ts';
import { describeTraced, type HostedRecords } from './actor-event.ts';
import { Batches } from './batches.ts';

/** Events that a node keeps while the database is slow or away. */
const MOST_WAITING = 10_000;
/** How many places each kind may fill, beside all others: what operators ask for first has room longest. */
const ROOM: Readonly<Record<ActorEventKind, number>> = {
  ended: MOST_WAITING,
  started: 8_000,
  moved: 8_000,
  stayed: 8_000,
  gap: 7_000,
  warned: 7_000,
  attached: 6_000,
  detached: 6_000,
  usage: 6_000,
};

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
  readonly #batches: Batches<NewActorEvent>;
  #lost: LostEvents | undefined;

  constructor(deps: EventWriterDeps) {
    this.#deps = deps;
    this.#batches = new Batches({
      append: (events) => deps.store.append(events),
      onDropped: (event) => this.#drop(event),
      onError: deps.onError,
      finish: () => this.#noteLost(),
    });
  }

  /** Events that wait to be written. */
  get size(): number {
    return this.#batches.size;
  }

  /** Notes what an actor did, where that says something. */
  note(traced: Traced<HostedRecords>): void {
    const event = describeTraced(traced, this.#deps.node);
    if (event !== undefined) this.add(event);
  }

  add(event: NewActorEvent): void {
    this.#batches.push(event, ROOM[event.kind]);
  }

  /** See `Batches.flush`. */
  flush(): Promise<void> {
    return this.#batches.flush();
  }

  async #noteLost(): Promise<void> {
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
