import type { Accounts } from './accounts.ts';
import type { ChannelDeps } from './deps.ts';
import type { Places } from './places.ts';

/** What the connections of a node share. */
export interface Channel<Connection> {
  readonly deps: ChannelDeps;
  readonly addresses: Accounts;
  readonly sessions: Accounts;
  readonly places: Places;
  /** The connection must attach within five seconds. */
  expect(connection: Connection): void;
  /** From now on it is told what happens to the session. */
  add(sessionId: string, connection: Connection): void;
  /** It is told nothing any more, and need not be attached. */
  remove(sessionId: string | undefined, connection: Connection): void;
}
