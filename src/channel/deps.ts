import type { AuthSessions } from '../auth/auth-sessions.ts';
import type { Subjects } from '../auth/subjects.ts';
import type { EdgeLimits } from '../limits/edge.ts';
import type { UsageDeps } from '../quota/report-usage.ts';
import type { Events } from '../telemetry/events.ts';

/** What the channel needs of the service. */
export interface ChannelDeps extends UsageDeps {
  readonly subjects: Subjects;
  readonly logins: Pick<AuthSessions, 'destroy'>;
  readonly edge: Pick<EdgeLimits, 'byAddress' | 'perAddress'>;
  readonly clock: { now(): number };
  readonly heartbeatIntervalSec: number;
  readonly events: Events;
}
