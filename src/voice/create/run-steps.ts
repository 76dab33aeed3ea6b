import type { Eventually } from '../../kernel/eventually.ts';
import { Refusal } from '../../protocol/refusal.ts';

/** What a step answers that has found the reply: the steps below it are left out, and nothing is given back. */
export const ANSWERED = Symbol('answered');

/** A refusal, that the reply is found, what was taken, or undefined where the step let the request pass and took nothing. */
export type Outcome<T> = Refusal | typeof ANSWERED | T | undefined;

/** One rule of a request that may take something, and how that is given back when no later step lets the request pass. */
export interface Step<C, D, T = unknown> {
  readonly name: string;
  /** When it throws, nothing counts as taken: what a store took and could not tell any more lapses there by itself. */
  take(context: C, deps: D): Eventually<Outcome<T>>;
  undo?(taken: T, context: C, deps: D): Eventually<unknown>;
}

/**
 * Takes the steps in their order until one refuses, throws or has the reply. After a refusal or a fault all that was taken is given back, each
 * once and the last first. It waits only for promises: what answers at once is followed by the next step at once.
 * @param onFault hears why something could not be given back; that changes neither what else is given back nor the outcome
 * @returns the refusal; undefined when the request passed, or its reply was found
 * @throws what a step threw
 */
export async function runSteps<C, D>(
  steps: readonly Step<C, D>[],
  context: C,
  deps: D,
  onFault: (fault: unknown) => void,
): Promise<Refusal | undefined> {
  const undos: (() => unknown)[] = [];

  async function giveBack(): Promise<void> {
    for (const undo of undos.toReversed())
      try {
        await undo();
      } catch (fault) {
        onFault(fault);
      }
  }

  let refusal: Refusal | undefined;
  try {
    for (const step of steps) {
      const answer = step.take(context, deps);
      const outcome = answer instanceof Promise ? await answer : answer;
      if (outcome === ANSWERED) return undefined;
      if (outcome instanceof Refusal) {
        refusal = outcome;
        break;
      }
      if (outcome !== undefined) undos.push(() => step.undo?.(outcome, context, deps));
    }
  } catch (fault) {
    await giveBack();
    throw fault;
  }
  if (refusal !== undefined) await giveBack();
  return refusal;
}
