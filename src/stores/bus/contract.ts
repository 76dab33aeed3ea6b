import type { BusMessage } from '../../protocol/bus.ts';

/** How nodes tell each other what changed. A message may be lost: what must hold is in the stores. */
export interface Bus {
  /**
   * Always tells this node. A message about a session goes to the nodes that follow it, where that is possible; any other goes to all. It
   * never throws: the bus is a hint, the store is the truth.
   */
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
  /** The sessions that this node follows; undefined where there are no other nodes. */
  readonly followed?: FollowedSessions;
}

/** The sessions of which a node hears what others publish: those with a socket or a call there. */
export interface FollowedSessions {
  /** The node hears of the session until `remove` was called as often; what is asked of its record afterwards misses nothing. */
  add(sessionId: string): void;
  remove(sessionId: string): void;
  /** Whether others may tell this node alone; else it hears of all sessions, and says so. */
  readonly isDirected: boolean;
  /** Whether the node is told at once what others publish of the session: it is known to follow it, and connected. */
  hears(sessionId: string): boolean;
}
