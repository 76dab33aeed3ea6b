import type { Bus, BusMessage } from './contract.ts';

/**
 * The bus of a single process: listeners get a message before `publish` returns.
 * A listener that throws or rejects affects neither the publisher nor the others: `onError` is told.
 */
export function createInProcessBus(onError: (error: unknown) => void = warn): Bus {
  const listeners = new Set<{ readonly listen: (message: BusMessage) => unknown }>();

  return {
    isConnected: true,
    // No other node publishes.
    onGap: () => () => undefined,

    publish(message) {
      for (const { listen } of listeners) deliver(listen, message, onError);
    },

    subscribe(listen) {
      // An object of its own, so that one function that listens twice can stop once.
      const listener = { listen };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

function deliver(
  listen: (message: BusMessage) => unknown,
  message: BusMessage,
  onError: (error: unknown) => void,
): void {
  try {
    const result = listen(message);
    if (result instanceof Promise) result.catch(onError);
  } catch (error) {
    onError(error);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
