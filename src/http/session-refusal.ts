import { isViolation } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { Call, Result } from './route.ts';
import type { Services } from './services.ts';

/**
 * A refusal about a session. Where it reports a violation, the login that opened the session is destroyed (docs/contract.md,
 * section 5.9).
 */
export function refusedOf(
  { loginId, tenantId, keyId, subject }: VoiceRecord,
  refused: Refusal,
  { login, request }: Pick<Call, 'login' | 'request'>,
  { logins }: Services['identity'],
): Eventually<Result> {
  const refusal = refused.because({ tenantId, keyId, subject });
  const { code, additions } = refusal;
  // A used-up budget is not the caller's own violation: others may have used it.
  const isOwnDay = code === 'DAILY_QUOTA_EXCEEDED' && additions.budget === undefined;
  const costsLogin = isOwnDay || isViolation(additions.reason ?? null);
  // Only the login that opened the session is destroyed: an old tab must not log out a new login.
  if (!costsLogin || login === undefined || loginId !== login.id) return refusal;
  return andThen(logins.destroy(login.id, 'violation', request.atMs, request.requestId), () => ({
    refusal,
    cookie: { kind: 'clear' },
  }));
}
