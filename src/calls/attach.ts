import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { BrokeredProvider } from '../upstream/contract.ts';

/** Attaches to a call of which all is known that it was created with. @throws what the provider's `attach` throws */
export async function attach(
  provider: BrokeredProvider | undefined,
  providerCallId: string | null,
  setup: SessionSetup | undefined,
  maxOutputTokens: number | undefined,
  hear: Parameters<BrokeredProvider['attach']>[2],
  signal: AbortSignal,
): ReturnType<BrokeredProvider['attach']> {
  if (provider === undefined || setup === undefined || providerCallId === null)
    throw new Error('nothing is known of the call to attach to');
  const { model, voice, tools } = setup;
  const instructions = setup.instructions ?? undefined;
  return provider.attach(providerCallId, { model, voice, instructions, tools, maxOutputTokens }, hear, signal);
}
