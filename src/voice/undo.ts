import { Refusal } from '../kernel/errors.ts';
import type { Events } from '../telemetry/events.ts';

/** How to give back what one step took. */
export type Undo = () => unknown;

interface UndoDeps {
  readonly events: Events;
}

/** Gives back what some steps took, one after the other; a store that is away meanwhile gets it back by its own expiry. */
export async function undoAll(steps: readonly Undo[], { events }: UndoDeps): Promise<void> {
  for (const undo of steps)
    try {
      await undo();
    } catch (error) {
      events.faulted(error, undefined, 'give back after a refused create');
    }
}

/** One more step after a first: where it is refused or throws, the first is undone. @returns how to undo both */
export async function both(first: Undo, take: () => Promise<Undo | Refusal>, deps: UndoDeps): Promise<Undo | Refusal> {
  try {
    const second = await take();
    if (!(second instanceof Refusal)) return async () => undoAll([first, second], deps);
    await undoAll([first], deps);
    return second;
  } catch (fault) {
    await undoAll([first], deps);
    throw fault;
  }
}
