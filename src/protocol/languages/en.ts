import type { OwnWords } from './words.ts';

export const own: OwnWords = {
  NETWORK_ERROR: 'No connection. Please check your network.',
  MICROPHONE_BLOCKED: 'Please allow this page to use the microphone.',
  MICROPHONE_MISSING: 'Please connect a microphone.',
  MICROPHONE_INSECURE: 'This page is not secure.',
  MICROPHONE_LOST: 'The microphone is off.',
  SIMULATED_PROVIDER: 'The voice service is simulated here.',
  PROVIDER_UNSUPPORTED: 'The voice service did not take the call.',
  PROVIDER_REFUSED: 'The voice service did not take the call.',
  CALL_LOST: 'The call was lost.',
  TOOL_FAILED: 'That did not work.',
};
