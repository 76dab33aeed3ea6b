import type { Actor, AnyMachineSnapshot, AnyStateMachine, EventObject, StateValue } from 'xstate';
import { Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import { Tracer, type Trace, type TracedEvent } from './trace.ts';

/** What the host needs of a record: an id, and a version that grows with every change. */
export interface HostedRecord {
  readonly id: string;
  readonly version: number;
}

/** Where the host loads and saves records: compare-and-save is all that several nodes need to agree. */
export interface RecordStore<R extends HostedRecord> {
  /** The current record; undefined if the id is unknown. */
  load(id: string): Eventually<R | undefined>;
  /**
   * The record as this process saw it last, at once; undefined if it saw none. It may be out of date, which compare-and-save detects: use it for a
   * change that is saved, never as an answer by itself.
   */
  recall?(id: string): R | undefined;
  /** Saves if the stored version is still `expectedVersion`; false means that somebody else was first. */
  save(record: R, expectedVersion: number): Eventually<boolean>;
}

/** How the host handles one kind of actor; it knows no particular machine itself. */
export interface ActorKind<R extends HostedRecord, E extends EventObject, F extends EventObject> {
  /** A machine whose context is the record, whose first event creates it, and whose emitted events are facts. */
  readonly machine: AnyStateMachine;
  readonly store: RecordStore<R>;
  /** The machine's state for a stored record. */
  stateOf(record: R): StateValue;
  /** The record after an event that changes no state, as the machine would make it; undefined if an actor must be activated. */
  fastPath?(record: R, event: E): R | undefined;
  /**
   * Whether a record that lost a save says more than the current one, apart from its version. Of many events at once, on several nodes, those that
   * say nothing new need not win; without this function all must.
   */
  tellsMore?(present: R, lost: R): boolean;
  /**
   * The record that an event opens, as the machine would make it; undefined if an actor must be activated. The machine always does the same with such
   * events: the first goes through the machine, and its trace serves for all that follow.
   */
  fastOpen?(event: E): R | undefined;
  /** Saves in place of the store, if the event or the machine's facts need another way; undefined leaves it to the store. */
  save?:
    | ((record: R, expectedVersion: number, event: E, facts: readonly F[]) => Eventually<boolean> | undefined)
    | undefined;
  /** Called after the save and before the answer: does whatever must be true once the caller is answered. */
  settled?(record: R, facts: readonly F[]): Eventually<void>;
  /** Called when an actor is opened, and after each save for which an actor was activated, even if its state stayed. */
  trace?: Trace<R> | undefined;
}

export interface Outcome<R, F> {
  readonly record: R;
  /** What the machine emitted; empty when the event changed no state. */
  readonly facts: readonly F[];
}

/** The actors of one kind, by the ids of their records. */
export interface Host<R extends HostedRecord, E extends EventObject, F extends EventObject> {
  /**
   * The first record of an actor, as `event` opens it. The caller inserts it, with everything that must be inserted in the same step.
   * @throws Error for an event that opens nothing
   */
  open(event: E): R;
  /**
   * Sends an event to the actor of `id` and answers after the changed record is saved; undefined if the id is unknown or `admits` rejects its record:
   * the sender must not learn which. Events of one id never run at once in a process; across nodes compare-and-save decides, and the loser tries
   * again.
   * @throws Unavailable when the store is away, or if others were first too many times in a row.
   */
  send(id: string, event: E, admits?: (record: R) => boolean): Eventually<Outcome<R, F> | undefined>;
  /**
   * Applies an event, and lets `save` save the change together with something else, by the same compare-and-save. Undefined unless this process knows
   * the record, `admits` accepts it, no other event of it is under way, the event needs no actor, and `save` can do it.
   */
  sendWith<T>(
    id: string,
    event: E,
    admits: (record: R) => boolean,
    save: (record: R, expectedVersion: number) => Promise<T> | undefined,
  ): Promise<T> | undefined;
}

/** The outcome of one event, before it is saved. */
interface UnsavedOutcome<R, F> extends Outcome<R, F> {
  /** Undefined if no actor was activated, or if nobody wants traces. */
  readonly traced?: TracedEvent<R> | undefined;
}

type Admits<R> = ((record: R) => boolean) | undefined;

const MAX_ATTEMPTS = 8;
const NO_FACTS: readonly never[] = [];

/**
 * A host of virtual actors: for one event an actor is activated from its record, runs to rest, is saved and discarded. None lives on from one event
 * to the next, and an event that changes no state activates none (`fastPath`). At rest an actor is its record, and nothing else.
 */
export function createHost<R extends HostedRecord, E extends EventObject, F extends EventObject>(
  kind: ActorKind<R, E, F>,
): Host<R, E, F> {
  const { store, machine } = kind;
  const tracer = new Tracer(machine);
  /** The last work of each id that is still under way. */
  const tails = new Map<string, Promise<unknown>>();

  /** What the machine did with the first event that `fastOpen` could handle. */
  let openedAlike: TracedEvent<R> | undefined;

  function open(event: E): R {
    const fast = kind.fastOpen?.(event);
    if (fast !== undefined && openedAlike !== undefined) {
      kind.trace?.({ ...openedAlike, ...originOf(event), record: fast });
      return fast;
    }
    const { record, traced } = run(tracer.create(), event, undefined);
    if ((record as Partial<R>).version === undefined) throw new Error(`${event.type} opens nothing in ${machine.id}`);
    if (fast !== undefined) openedAlike = traced;
    if (traced !== undefined) kind.trace?.(traced);
    return record;
  }

  function apply(record: R, event: E): UnsavedOutcome<R, F> {
    const touched = kind.fastPath?.(record, event);
    return touched === undefined ? activate(record, event) : { record: touched, facts: NO_FACTS };
  }

  function activate(record: R, event: E): UnsavedOutcome<R, F> {
    const snapshot = machine.resolveState({ value: kind.stateOf(record), context: record });
    return snapshot.status === 'done' ? { record, facts: NO_FACTS } : run(tracer.create(snapshot), event, record);
  }

  /** Machines wait for nothing, so the actor is at rest after `send`. */
  function run(actor: Actor<AnyStateMachine>, event: E, before: R | undefined): UnsavedOutcome<R, F> {
    const facts: F[] = [];
    actor.on('*', (fact) => facts.push(fact as unknown as F));
    // Without an observer, a fault in a guard or action would be thrown on the event loop and end the process.
    actor.subscribe({ error: () => undefined });
    actor.start();
    actor.send(event);
    const after = actor.getSnapshot();
    actor.stop();
    if (after.status === 'error') throw after.error;
    const record = after.context as R;
    return { record, facts, traced: kind.trace && tracedEvent(event, before, record, after) };
  }

  function tracedEvent(
    event: E,
    before: R | undefined,
    record: R,
    { value, status }: AnyMachineSnapshot,
  ): TracedEvent<R> {
    return {
      machine: machine.id,
      event: event.type,
      ...originOf(event),
      from: before && kind.stateOf(before),
      to: value,
      isFinal: status === 'done',
      before,
      record,
      ...tracer.told,
    };
  }

  function attempt(id: string, event: E, admits: Admits<R>, triesLeft: number): Eventually<Outcome<R, F> | undefined> {
    // Only on the first attempt: a recalled record that lost a conflict was out of date, and may still be.
    const recalled = triesLeft === MAX_ATTEMPTS ? store.recall?.(id) : undefined;
    if (recalled !== undefined && admits?.(recalled) !== false) {
      const outcome = apply(recalled, event);
      if (outcome.record.version !== recalled.version) return save(outcome, recalled, event, admits, triesLeft);
    }
    return andThen(store.load(id), (record) => {
      if (record === undefined || admits?.(record) === false) return undefined;
      const outcome = apply(record, event);
      if (outcome.record.version === record.version) return { record, facts: NO_FACTS };
      const isRetry = triesLeft < MAX_ATTEMPTS;
      if (isRetry && outcome.facts.length === 0 && kind.tellsMore?.(record, outcome.record) === false)
        return { record, facts: NO_FACTS };
      return save(outcome, record, event, admits, triesLeft);
    });
  }

  function save(
    outcome: UnsavedOutcome<R, F>,
    before: R,
    event: E,
    admits: Admits<R>,
    triesLeft: number,
  ): Eventually<Outcome<R, F> | undefined> {
    const { id, version } = before;
    const saving = kind.save?.(outcome.record, version, event, outcome.facts) ?? store.save(outcome.record, version);
    // Written out, so that a heartbeat that waits for nothing creates no closure.
    if (saving === true) return settle(outcome);
    return andThen(saving, (saved) => {
      if (saved) return settle(outcome);
      if (triesLeft === 0) throw new Unavailable('registry', new Error(`${id} changed too often while it was saved`));
      return attempt(id, event, admits, triesLeft - 1);
    });
  }

  function settle(outcome: UnsavedOutcome<R, F>): Eventually<Outcome<R, F>> {
    const { record, facts, traced } = outcome;
    if (traced !== undefined) kind.trace?.(traced);
    if (facts.length === 0 || kind.settled === undefined) return outcome;
    return andThen(kind.settled(record, facts), () => outcome);
  }

  function track<T>(id: string, work: Promise<T>): Promise<T> {
    const tail = work.then(forget, forget);
    function forget(): void {
      if (tails.get(id) === tail) tails.delete(id);
    }
    tails.set(id, tail);
    return work;
  }

  return {
    open,
    sendWith(id, event, admits, save) {
      const recalled = tails.has(id) ? undefined : store.recall?.(id);
      if (recalled === undefined || !admits(recalled)) return undefined;
      const record = kind.fastPath?.(recalled, event);
      const saving = record && save(record, recalled.version);
      return saving && track(id, saving);
    },
    send(id, event, admits) {
      const tail = tails.size === 0 ? undefined : tails.get(id);
      const outcome =
        tail === undefined
          ? attempt(id, event, admits, MAX_ATTEMPTS)
          : tail.then(() => attempt(id, event, admits, MAX_ATTEMPTS));
      return outcome instanceof Promise ? track(id, outcome) : outcome;
    },
  };
}

/** When the event that a machine was sent happened, and which request sent it. */
function originOf(event: EventObject): { readonly atMs: number; readonly requestId: string | null } {
  const { at, requestId } = event as { readonly at?: unknown; readonly requestId?: unknown };
  return { atMs: typeof at === 'number' ? at : 0, requestId: typeof requestId === 'string' ? requestId : null };
}
