import type { BusMessage } from '../../protocol/bus.ts';

/** How nodes tell each other what changed. A message may be lost: what must hold is in the stores. */
export interface Bus {
  /** Tells every node, this one included. It never throws: the bus is a hint, the store is the truth. */
  publish(message: BusMessage): void;
  /** @returns the way to stop listening. `isOwn`: this node published the message. */
  subscribe(listener: (message: BusMessage, isOwn: boolean) => void): () => void;
  /**
   * The listener is told each time that messages of other nodes may have been missed, when it is over: this node gets them again,
   * or another one can speak again. @returns the way to stop listening.
   */
  onGap(listener: () => void): () => void;
  /** False while this node is known to be cut off from the others. */
  readonly isConnected: boolean;
}
