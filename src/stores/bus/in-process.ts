import type { Bus } from './contract.ts';
import type { BusMessage } from '../../protocol/bus.ts';
import { Listeners } from './listeners.ts';

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
    subscribe: (listen) => listeners.add(listen),
  };
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
