import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Subjects } from '../auth/subjects.ts';
import { Refusal } from '../protocol/refusal.ts';

/**
 * Whether an e-mail address proves the session's subject; a session that nobody is named for needs none (docs/contract.md, section 5.6),
 * and neither does a back end with a service token. An address that is not the session's proves a mistake, whoever sends it.
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

/** Unknown and not the caller's are the same on purpose. */
export function sessionNotFound(): Refusal {
  return new Refusal('SESSION_NOT_FOUND', 'No such session for this e-mail address; check sm_session_id and email.');
}
