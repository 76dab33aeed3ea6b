import type { CallTerms } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';

interface Account {
  readonly provider: { readonly name: string };
  readonly fingerprint: string;
}

/** What holds for a new call of a session from its begin to its end. */
export function termsOf(
  id: string,
  { id: sessionId, subject, tenantId, keyId }: VoiceRecord,
  { model }: Pick<SessionSetup, 'model'>,
  { provider, fingerprint }: Account,
): CallTerms {
  return { id, sessionId, subject, tenantId, keyId, provider: provider.name, fingerprint, model };
}
