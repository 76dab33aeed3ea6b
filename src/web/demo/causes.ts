import type { EndReason, RequestedEnd } from '../../protocol/session.ts';

/** What ended a session, as the machine's chart names it; everything else is asked for by somebody. */
const causes: Readonly<Record<string, string>> = {
  duration_exceeded: 'isPastDuration',
  idle_exceeded: 'HEARTBEAT',
  abandoned: 'isAbandoned',
} satisfies Record<Exclude<EndReason, RequestedEnd>, string>;

/** The event or guard that ended a session; undefined for a session that the server does not know. */
export function causeOf(reason: string): string | undefined {
  return reason === 'not_found' ? undefined : (causes[reason] ?? 'END');
}
