import type { AudioConstraints } from './api.ts';
import { failure } from './error.ts';

/** Asks the visitor for the microphone. @throws SwitchboardError MICROPHONE_INSECURE, MICROPHONE_BLOCKED, MICROPHONE_MISSING */
export async function openMicrophone(audio: AudioConstraints): Promise<MediaStream> {
  const devices = mediaDevices();
  try {
    return await devices.getUserMedia({ audio });
  } catch (cause) {
    const isRefused = /NotAllowed|Security/.test((cause as DOMException).name);
    throw failure(isRefused ? 'MICROPHONE_BLOCKED' : 'MICROPHONE_MISSING', cause);
  }
}

/** Gives a microphone back: the browser takes its sign away. */
export function release(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

/** Those to choose from; their names are empty until the visitor has allowed one. @throws SwitchboardError MICROPHONE_INSECURE */
export async function listMicrophones(): Promise<MediaDeviceInfo[]> {
  const all = await mediaDevices().enumerateDevices();
  return all.filter(({ kind }) => kind === 'audioinput');
}

function mediaDevices(): MediaDevices {
  const devices = globalThis.navigator?.mediaDevices;
  // Browsers give them to secure contexts only.
  if (devices === undefined) throw failure('MICROPHONE_INSECURE');
  return devices;
}
