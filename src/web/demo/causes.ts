import type { EndReason, RequestedEnd } from '../../protocol/session.ts';

/** The event or guard in the machine's chart for each end reason. All other reasons are requested by somebody (`END`). */
const causes: Readonly<Record<string, string>> = {
  duration_exceeded: 'isPastDuration',
  idle_exceeded: 'HEARTBEAT',
  abandoned: 'isAbandoned',
} satisfies Record<Exclude<EndReason, RequestedEnd>, string>;

/** The event or guard that ended a session; undefined for a session that the server does not know. */
export function causeOf(reason: string): string | undefined {
  return reason === 'not_found' ? undefined : (causes[reason] ?? 'END');
}
