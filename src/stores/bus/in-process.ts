import type { Bus } from './contract.ts';
import type { BusMessage } from '../../protocol/bus.ts';

type Listen = (message: BusMessage, isOwn: boolean) => unknown;

export interface InProcessBus extends Bus {
  /** Delivers another node's message to this node's listeners. */
  relay(message: BusMessage): void;
}

/**
 * The bus of a single process: listeners get a message before `publish` returns. A listener that throws or rejects affects neither the publisher nor
 * other listeners: its error goes to `onError`.
 */
export function createInProcessBus(onError: (error: unknown) => void = warn): InProcessBus {
  const listeners = new Set<{ readonly listen: Listen }>();

  function tell(message: BusMessage, isOwn: boolean): void {
    for (const { listen } of listeners) deliver(listen, message, isOwn, onError);
  }

  return {
    isConnected: true,
    // There are no other nodes whose messages could be missed.
    onGap: () => () => undefined,

    publish: (message) => tell(message, true),

    relay: (message) => tell(message, false),

    subscribe(listen) {
      // An object per subscription, so that a function that listens twice can stop once.
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
