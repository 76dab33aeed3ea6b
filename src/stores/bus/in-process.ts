import type { Bus } from './contract.ts';
import type { BusMessage } from '../../protocol/bus.ts';

type Listen = (message: BusMessage, isOwn: boolean) => unknown;

export interface InProcessBus extends Bus {
  /** Tells this node's listeners what another node published. */
  relay(message: BusMessage): void;
}

/**
 * The bus of a single process: listeners get a message before `publish` returns.
 * A listener that throws or rejects affects neither the publisher nor the others: `onError` is told.
 */
export function createInProcessBus(onError: (error: unknown) => void = warn): InProcessBus {
  const listeners = new Set<{ readonly listen: Listen }>();

  function tell(message: BusMessage, isOwn: boolean): void {
    for (const { listen } of listeners) deliver(listen, message, isOwn, onError);
  }

  return {
    isConnected: true,
    // No other node publishes.
    onGap: () => () => undefined,

    publish: (message) => tell(message, true),

    relay: (message) => tell(message, false),

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

function deliver(listen: Listen, message: BusMessage, isOwn: boolean, onError: (error: unknown) => void): void {
  try {
    const result = listen(message, isOwn);
    if (result instanceof Promise) result.catch(onError);
  } catch (error) {
    onError(error);
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
