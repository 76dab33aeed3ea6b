import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { BrokeredProvider } from '../upstream/contract.ts';

/**
 * Attaches to a call of which all is known that it was created with. One that was open before is put back to that where its page may
 * change nothing: nobody has seen what the page did meanwhile. @throws what the provider's `attach` throws
 */
export async function attach(
  provider: BrokeredProvider | undefined,
  { providerCallId, state }: Pick<CallRecord, 'providerCallId' | 'state'>,
  setup: SessionSetup | undefined,
  maxOutputTokens: number | undefined,
  hear: Parameters<BrokeredProvider['attach']>[2],
  signal: AbortSignal,
): ReturnType<BrokeredProvider['attach']> {
  if (provider === undefined || setup === undefined || providerCallId === null)
    throw new Error('nothing is known of the call to attach to');
  const { model, voice, tools } = setup;
  const instructions = setup.instructions ?? undefined;
  const isPutBack = state === 'open' && setup.isLocked;
  return provider.attach(
    providerCallId,
    { model, voice, instructions, tools, maxOutputTokens, isPutBack },
    hear,
    signal,
  );
}
