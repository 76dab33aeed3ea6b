import type { CallTerms } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { CallParts } from './call-parts.ts';

/** The terms of a new call of a session: they stay the same until it ends. */
export function termsOf(
  id: string,
  { id: sessionId, subject, tenantId, keyId }: VoiceRecord,
  { model }: Pick<SessionSetup, 'model'>,
  { provider, accounts: { fingerprint } }: Pick<CallParts, 'provider' | 'accounts'>,
): CallTerms {
  return { id, sessionId, subject, tenantId, keyId, provider: provider.name, fingerprint, model };
}
