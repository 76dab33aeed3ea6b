import type { BusMessage } from '../../protocol/bus.ts';

/** Hears all messages. `isOwn`: this node published the message. */
export type BusListener = (message: BusMessage, isOwn: boolean) => unknown;

/** Hears messages of some types: a listener for each. */
export type BusListeners = {
  readonly [T in BusMessage['type']]?: (message: Extract<BusMessage, { type: T }>, isOwn: boolean) => unknown;
};

/** How nodes tell each other what changed. A message may be lost: what must hold is in the stores. */
export interface Bus {
  /**
   * Always delivers to this node. A message about a session goes to the nodes that follow it, where possible; any other goes to all nodes. Never
   * throws: the bus is a hint, the stores have the truth.
   */
  publish(message: BusMessage): void;
  /** @returns a function that stops listening */
  subscribe(listener: BusListener | BusListeners): () => void;
  /**
   * Calls the listener after each gap in which messages of other nodes may have been missed: this node receives them again, or another node can send
   * again.
   * @returns a function that stops listening.
   */
  onGap(listener: () => void): () => void;
  /** False while this node is known to be cut off from the others. */
  readonly isConnected: boolean;
  /** The sessions that this node follows; undefined if there are no other nodes. */
  readonly followed?: FollowedSessions;
}

/** The sessions about which a node receives the messages of others: those with a socket or a call on this node. */
export interface FollowedSessions {
  /** The node receives messages about the session until `remove` was called equally often; reading its record after `add` misses nothing. */
  add(sessionId: string): void;
  remove(sessionId: string): void;
  /** Whether others can address this node alone; otherwise it receives messages about all sessions, and announces that. */
  readonly isDirected: boolean;
  /** Whether messages of others about the session arrive at once: the node is connected, and Redis is known to list it as a follower. */
  hears(sessionId: string): boolean;
}
