import {
  createActor,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
  type StateValue,
} from 'xstate';

/** What XState asks to have executed: for a machine that only changes its context and emits, what it emits. */
interface Executable {
  readonly type: string;
  readonly params?: { readonly event?: unknown } | undefined;
}

export type Snapshot<C> = AnyMachineSnapshot & { readonly context: C };

/**
 * Takes a machine from snapshot to snapshot, for what lives long in memory and gets many events: XState's own `transition` creates an actor for each
 * of them, which costs five times as much.
 */
export class Steps<C, E extends EventObject, F> {
  readonly #machine: AnyStateMachine;
  #scope: AnyActorScope | undefined;
  #emitted: F[] = [];

  constructor(machine: AnyStateMachine) {
    this.#machine = machine;
  }

  /** The first snapshot of a machine with this `input`. @throws Error if the machine emits something then: nobody would hear it */
  begin(input: unknown): Snapshot<C> {
    this.#scope ??= this.#createScope(input);
    this.#emitted = [];
    const first = this.#machine.getInitialSnapshot(this.#scope, input) as Snapshot<C>;
    if (this.#emitted.length > 0) throw new Error(`${this.#machine.id} emits as it begins`);
    return first;
  }

  /** The snapshot of a machine whose context comes from a store. @param value the state in which the machine left its context */
  resume(value: StateValue, context: C): Snapshot<C> {
    this.#scope ??= this.#createScope(undefined);
    return this.#machine.resolveState({ value, context }) as Snapshot<C>;
  }

  /** The snapshot after an event, and what the machine emitted, in order. @param snapshot that goes back to one of `begin` or `resume` */
  send(snapshot: Snapshot<C>, event: E): readonly [snapshot: Snapshot<C>, emitted: readonly F[]] {
    this.#emitted = [];
    const next = this.#machine.transition(snapshot, event, this.#scope as AnyActorScope) as Snapshot<C>;
    return [next, this.#emitted];
  }

  /** What every transition requires; no actor runs in it. */
  #createScope(input: unknown): AnyActorScope {
    const self = createActor(this.#machine, { input: input as never });
    const nothing = (): void => undefined;
    const { id, sessionId, system } = self;
    const actionExecutor = ({ type, params }: Executable): void => {
      if (type === 'xstate.emit') this.#emitted.push(params?.event as F);
    };
    const scope = { self, id, sessionId, system, actionExecutor };
    return { ...scope, logger: nothing, defer: nothing, stopChild: nothing, emit: nothing } as unknown as AnyActorScope;
  }
}
