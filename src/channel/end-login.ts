import type { EndReason, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Eventually } from '../kernel/eventually.ts';
import { isViolation } from '../../machines/voice-session/end-reasons.ts';
import type { ChannelDeps } from './deps.ts';

/**
 * Destroys the login that opened a console session when its client is answered with a violation, as over HTTP (docs/contract.md, section 5.9). A push
 * does not count as an answer.
 * @throws Unavailable (rejects) when the database is away: then the login goes on
 */
export function endLoginOnViolation(
  { loginId }: VoiceRecord,
  reason: EndReason,
  { identity, clock }: Pick<ChannelDeps, 'identity' | 'clock'>,
): Eventually<void> {
  if (loginId !== null && isViolation(reason))
    return identity.logins.destroy(loginId, 'violation', clock.now()).then(() => undefined);
}
