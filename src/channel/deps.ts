import type { SocketBudgets } from './socket-budgets.ts';
import type { SocketLeases } from './socket-leases.ts';
import type { ConsoleLogins } from '../auth/console-logins.ts';
import type { Subjects } from '../auth/subjects.ts';
import type { EdgeWindows } from '../limits/edge.ts';
import type { UsageDeps } from '../quota/report-usage.ts';
import type { Windows } from '../stores/windows/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { VoiceSessions } from '../voice/sessions.ts';

export interface ChannelDeps extends UsageDeps {
  readonly sessions: VoiceSessions;
  readonly subjects: Subjects;
  readonly logins: Pick<ConsoleLogins, 'destroy'>;
  readonly edge: Pick<EdgeWindows, 'address'>;
  readonly windows: Pick<Windows, 'take'>;
  readonly clock: { now(): number };
  readonly heartbeatIntervalSec: number;
  readonly events: Events;
}

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
