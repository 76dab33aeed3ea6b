import { durationSec, idleSec } from '../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Subjects } from '../auth/subjects.ts';
import { iso } from '../kernel/time.ts';
import type { SessionView } from '../protocol/session.ts';

/**
 * Whether an e-mail address proves the session's subject; a session that nobody is named for needs none (docs/contract.md, section 5.6),
 * and neither does a back end with a service token. An address that is not the session's is refused, whoever sends it.
 */
export function speaksFor(
  record: VoiceRecord,
  address: string | undefined,
  subjects: Subjects,
  isService = false,
): boolean {
  if (!record.named) return true;
  if (address === undefined) return isService;
  const subject =
    record.caller === 'console' ? subjects.console(address) : subjects.widgetUser(record.tenantId, address);
  return subjects.equal(subject, record.subject);
}

/** A record as its client sees it at a time. */
export function viewOf(record: VoiceRecord, at: number): SessionView {
  return {
    active: record.endedAtMs === null,
    startedAt: iso(record.startedAtMs),
    lastSeenAt: iso(record.lastSeenAtMs),
    durationSec: durationSec(record, at),
    idleSec: idleSec(record, at),
  };
}

/** As JSON.stringify writes it, at a fraction of the cost: nothing in a view needs escaping. */
export function viewText({ active, startedAt, lastSeenAt, durationSec, idleSec }: SessionView): string {
  return `{"active":${active},"startedAt":"${startedAt}","lastSeenAt":"${lastSeenAt}","durationSec":${durationSec},"idleSec":${idleSec}}`;
}
