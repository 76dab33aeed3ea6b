import type { SocketBudgets } from './socket-budgets.ts';
import type { ChannelDeps } from './deps.ts';
import type { SocketLeases } from './socket-leases.ts';

/** What the connections of a node share. */
export interface ConnectionContext<Connection> {
  readonly deps: ChannelDeps;
  readonly addresses: SocketBudgets;
  readonly sessions: SocketBudgets;
  readonly socketLeases: SocketLeases;
  /** The connection must attach within five seconds. */
  expect(connection: Connection): void;
  /** From now on it is told what happens to the session. */
  add(sessionId: string, connection: Connection): void;
  /** It is told nothing any more, and need not be attached. */
  remove(sessionId: string | undefined, connection: Connection): void;
}
