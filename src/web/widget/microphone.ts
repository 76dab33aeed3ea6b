import type { AudioConstraints } from './api.ts';
import { failure } from './error.ts';

const refused = new Set(['NotAllowedError', 'SecurityError']);

/** Asks the visitor for the microphone. @throws SwitchboardError MICROPHONE_INSECURE, MICROPHONE_BLOCKED, MICROPHONE_MISSING */
export async function openMicrophone(audio: AudioConstraints): Promise<MediaStream> {
  const devices = globalThis.navigator?.mediaDevices;
  // Browsers give it to secure contexts only.
  if (devices === undefined) throw failure('MICROPHONE_INSECURE', 'navigator.mediaDevices needs https, or localhost');
  try {
    return await devices.getUserMedia({ audio });
  } catch (cause) {
    const isRefused = refused.has((cause as DOMException).name);
    throw failure(isRefused ? 'MICROPHONE_BLOCKED' : 'MICROPHONE_MISSING', cause);
  }
}

/** Gives a microphone back: the browser takes its sign away. */
export function release(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
