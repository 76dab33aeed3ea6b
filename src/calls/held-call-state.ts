import { fastPath, heldStates, type HeldStates } from '../../machines/held-call/selectors.ts';
import type { HeldCallCommand, HeldCallContext, HeldCallEvent, HeldCallInput } from '../../machines/held-call/types.ts';
import type { Snapshot, Steps } from '../actors/steps.ts';

export type HeldCallSteps = Steps<HeldCallContext, HeldCallEvent, HeldCallCommand>;

const NOTHING: readonly HeldCallCommand[] = [];

/** The state of one held call: the machine's, or the fast path's where an event moves no state. */
export class HeldCallState {
  readonly #steps: HeldCallSteps;
  #snapshot: Snapshot<HeldCallContext>;
  /** Newer than the snapshot's context after a fast path. */
  #call: HeldCallContext;

  constructor(steps: HeldCallSteps, input: HeldCallInput) {
    this.#steps = steps;
    this.#snapshot = steps.begin(input);
    this.#call = this.#snapshot.context;
  }

  get call(): HeldCallContext {
    return this.#call;
  }

  /** Undefined once the call is over, or belongs to another node. */
  get states(): HeldStates | undefined {
    return heldStates(this.#snapshot.value);
  }

  /** @returns the commands to carry out, in order */
  send(event: HeldCallEvent): readonly HeldCallCommand[] {
    const { states } = this;
    if (states === undefined) return NOTHING;
    const touched = fastPath(states, this.#call, event);
    if (touched !== undefined) {
      this.#call = touched;
      return NOTHING;
    }
    const before = this.#snapshot;
    const snapshot = this.#call === before.context ? before : { ...before, context: this.#call };
    const [next, commands] = this.#steps.send(snapshot, event);
    this.#snapshot = next;
    this.#call = next.context;
    return commands;
  }
}
