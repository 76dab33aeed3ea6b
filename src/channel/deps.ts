import type { SocketLimits, SocketLeases } from './socket-limits.ts';
import type { CallSockets } from './call-sockets.ts';
import type { Config } from '../../config/config.ts';
import type { Identity } from '../auth/identity.ts';
import type { SuspectList } from '../bots/contract.ts';
import type { Clock } from '../kernel/time.ts';
import type { EdgeWindows } from '../rate-limits/requests-per-minute.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Usage } from '../quota/usage.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { NoteSession } from '../stores/journal/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { VoiceSessions } from '../sessions/sessions.ts';

export interface ChannelDeps {
  readonly config: Pick<Config, 'edge' | 'heartbeatIntervalSec'>;
  readonly clock: Clock;
  /** Says that this node is alive, which keeps its sockets' leases valid. */
  readonly lease: Pick<NodeLease, 'node' | 'renewForSockets'>;
  readonly live: Pick<LiveStores, 'bus' | 'sockets' | 'windows'>;
  readonly edge: Pick<EdgeWindows, 'address'>;
  readonly events: Events;
  readonly journal: { readonly note: NoteSession };
  /** Hears of faults that cannot be reported to any client. */
  readonly onError: (error: unknown) => void;
  readonly identity: Pick<Identity, 'subjects' | 'logins'>;
  readonly usage: Pick<Usage, 'limitsOf' | 'subjectOfSession' | 'report'>;
  readonly sessions: VoiceSessions;
  readonly suspects: Pick<SuspectList, 'noteEnd'>;
  readonly stores: { readonly history: Pick<VoiceHistory, 'rate'> };
  readonly calls: {
    readonly resumeTokens: { issue(sessionId: string, untilMs: number): Promise<string | undefined> };
  };
}

/** What the connections of a node share. */
export interface ConnectionContext<Connection> {
  readonly deps: ChannelDeps;
  readonly addresses: SocketLimits;
  readonly sessions: SocketLimits;
  readonly socketLeases: SocketLeases;
  readonly calls: CallSockets;
  /** From now on the connection must attach within five seconds. */
  expect(connection: Connection): void;
  /** From now on the connection hears what happens to the session. */
  add(sessionId: string, connection: Connection): void;
  /** The connection hears nothing any more, and need not attach. */
  remove(sessionId: string | undefined, connection: Connection): void;
}
