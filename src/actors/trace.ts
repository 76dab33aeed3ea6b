import {
  createActor,
  type Actor,
  type AnyStateMachine,
  type InspectionEvent,
  type Snapshot,
  type StateValue,
} from 'xstate';

/** One transition that a machine took. States are named by their paths (`live.engaged`), guards as the machine names them. */
export interface TransitionStep {
  readonly event: string;
  readonly from: string;
  /** Equal to `from` if the transition stays in its state. */
  readonly to: string;
  readonly guard: string | null;
  readonly actions: readonly string[];
}

/** A guard that was evaluated, and its answer. */
export interface GuardTold {
  readonly name: string;
  readonly passed: boolean;
}

/** What an actor did with one event, for explanations afterwards. */
export interface TracedEvent<R> {
  readonly machine: string;
  /** The event's type, without its data. */
  readonly event: string;
  readonly atMs: number;
  /** The request that sent the event, if the event names it. */
  readonly requestId: string | null;
  /** Undefined when the event opened the actor. */
  readonly from: StateValue | undefined;
  readonly to: StateValue;
  readonly isFinal: boolean;
  readonly before: R | undefined;
  readonly record: R;
  readonly steps: readonly TransitionStep[];
  /** In the order in which they were evaluated. */
  readonly guards: readonly GuardTold[];
}

/** Called with each event for which an actor was activated, once it is saved. */
export type Trace<R> = (traced: TracedEvent<R>) => void;

/** What XState reports about a transition; `_transitions` is not in its types (docs/decisions/0018). */
interface TransitionTold {
  readonly source: StateTold;
  readonly eventType: string;
  readonly target?: readonly StateTold[];
  readonly guard?: string | { readonly type: string };
  readonly actions: readonly (string | { readonly type?: string; readonly name?: string })[];
}

interface StateTold {
  readonly path: readonly string[];
}

/** Creates actors of a machine that report what they do. One at a time: an actor runs to rest before the next is created. */
export class Tracer {
  readonly #machine: AnyStateMachine;
  #steps: TransitionStep[] = [];
  #guards: GuardTold[] = [];

  constructor(machine: AnyStateMachine) {
    this.#machine = machine.provide({ guards: this.#listening(machine) });
  }

  /** An actor whose steps and guards are in `told` as soon as it is at rest. */
  create(snapshot?: Snapshot<unknown>): Actor<AnyStateMachine> {
    this.#steps = [];
    this.#guards = [];
    const inspect = (inspected: InspectionEvent): void => this.#note(inspected);
    return createActor(this.#machine, snapshot === undefined ? { inspect } : { inspect, snapshot });
  }

  /** What the actor that was created last has done so far. */
  get told(): { readonly steps: readonly TransitionStep[]; readonly guards: readonly GuardTold[] } {
    return { steps: this.#steps, guards: this.#guards };
  }

  #note(inspected: InspectionEvent): void {
    if (inspected.type !== '@xstate.microstep') return;
    const { event } = inspected;
    const { _transitions: transitions } = inspected as unknown as { readonly _transitions: readonly TransitionTold[] };
    for (const { source, eventType, target, guard, actions } of transitions) {
      const from = stateName(source);
      this.#steps.push({
        // A transition without an event of its own follows from the one before.
        event: eventType === '' ? '' : event.type,
        from,
        to: target?.[0] === undefined ? from : stateName(target[0]),
        guard: typeof guard === 'object' ? guard.type : (guard ?? null),
        actions: actions.map((action) => (typeof action === 'string' ? action : (action.type ?? action.name ?? ''))),
      });
    }
  }

  #listening(machine: AnyStateMachine): Record<string, (...args: never[]) => boolean> {
    const guards = machine.implementations.guards as Record<string, (...args: never[]) => boolean>;
    return Object.fromEntries(
      Object.entries(guards).map(([name, guard]) => [
        name,
        (...args: never[]) => {
          const passed = guard(...args);
          this.#guards.push({ name, passed });
          return passed;
        },
      ]),
    );
  }
}

function stateName({ path }: StateTold): string {
  return path.join('.');
}
