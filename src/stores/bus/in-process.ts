import type { Bus, BusListener, BusListeners } from './contract.ts';
import type { BusMessage } from '../../protocol/bus.ts';

export interface InProcessBus extends Bus {
  /** Delivers another node's message to this node's listeners. */
  relay(message: BusMessage): void;
}

/**
 * The bus of a single process: listeners get a message before `publish` returns. A listener that throws or rejects affects neither the publisher nor
 * other listeners: its error goes to `onError`.
 */
export function createInProcessBus(onError: (error: unknown) => void = warn): InProcessBus {
  const listeners = new Listeners<[message: BusMessage, isOwn: boolean]>(onError);
  return {
    isConnected: true,
    // There are no other nodes whose messages could be missed.
    onGap: () => () => undefined,
    publish: (message) => listeners.tell(message, true),
    relay: (message) => listeners.tell(message, false),
    subscribe: (listen) => listeners.add(listenerOf(listen)),
  };
}

/** One listener in the place of several: a message of a type for which there is none goes to nobody. */
export function listenerOf(listen: BusListener | BusListeners): BusListener {
  if (typeof listen === 'function') return listen;
  return (message, isOwn) => (listen[message.type] as BusListener | undefined)?.(message, isOwn);
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

/** Those who listen to something. One that throws or rejects affects no other: its error goes to `onError`. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #all = new Set<{ readonly listen: (...told: Told) => unknown }>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @returns a function that stops listening; a function that listens twice can stop once */
  add(listen: (...told: Told) => unknown): () => void {
    const listener = { listen };
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  tell(...told: Told): void {
    for (const { listen } of this.#all) {
      try {
        const result = listen(...told);
        if (result instanceof Promise) result.catch(this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
