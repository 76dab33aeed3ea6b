import type { Bus, BusMessage } from './contract.ts';

/**
 * The bus of a single process: listeners hear a message before `publish` returns.
 * A listener that throws or rejects hurts neither the publisher nor the others: `onError` is told.
 */
export function createInProcessBus(onError: (error: unknown) => void = warn): Bus {
  const listeners = new Set<{ readonly hear: (message: BusMessage) => unknown }>();

  return {
    isHearing: true,
    // Nobody else speaks.
    onGap: () => () => undefined,

    publish(message) {
      for (const { hear } of listeners) deliver(hear, message, onError);
    },

    subscribe(hear) {
      // An object of its own, so that one function that listens twice can stop once.
      const listener = { hear };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

function deliver(hear: (message: BusMessage) => unknown, message: BusMessage, onError: (error: unknown) => void): void {
  try {
    const heard = hear(message);
    if (heard instanceof Promise) heard.catch(onError);
  } catch (error) {
    onError(error);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
