import type { ConsoleLogins } from '../auth/console-logins.ts';
import type { Subjects } from '../auth/subjects.ts';
import type { EdgeWindows } from '../limits/edge.ts';
import type { UsageDeps } from '../quota/report-usage.ts';
import type { Windows } from '../stores/windows/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { VoiceSessions } from '../voice/sessions.ts';

/** What the channel needs of the service. */
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
