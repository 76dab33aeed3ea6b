import { atEnd } from './abort.ts';
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

/** Releases a microphone, so that the browser no longer shows it as in use. */
export function release(stream: MediaStream | undefined): void {
  stream?.getTracks().forEach((track) => track.stop());
}

/**
 * The stream of a call without a microphone. Browsers start it only after the visitor has touched the page, which does not matter to the call.
 * @param signal ends the stream
 */
export function silence(signal: AbortSignal): MediaStream {
  const context = new AudioContext();
  const { stream } = context.createMediaStreamDestination();
  atEnd(signal, () => void context.close());
  return stream;
}

/** The available microphones; their names are empty until the visitor has allowed one. @throws SwitchboardError MICROPHONE_INSECURE */
export async function listMicrophones(): Promise<MediaDeviceInfo[]> {
  const all = await mediaDevices().enumerateDevices();
  return all.filter(({ kind }) => kind === 'audioinput');
}

function mediaDevices(): MediaDevices {
  const devices = globalThis.navigator?.mediaDevices;
  // Browsers offer media devices only in secure contexts.
  if (!devices) throw failure('MICROPHONE_INSECURE');
  return devices;
}

/** The microphone of a session. It can be muted and switched, even during a call. */
export interface HeldMicrophone {
  readonly isMuted: boolean;
  /** Opens the microphone for a call, or returns the one that is already open. @throws SwitchboardError as `openMicrophone` */
  readonly open: () => Promise<MediaStream>;
  /** Opens the microphone for the next call, unless it is open. @throws SwitchboardError as `openMicrophone` */
  readonly prepare: () => Promise<void>;
  /** Sets the stream that the agent hears. If it is the page's own, only the page switches and stops it. */
  readonly use: (stream: MediaStream) => void;
  readonly mute: (on?: boolean) => void;
  /** Push-to-talk: whether the visitor is holding the button. */
  readonly talk: (on: boolean) => void;
  /** Switches the microphone in the current stream, if any. @returns the tracks to send from now on @throws SwitchboardError as `openMicrophone` */
  readonly choose: (deviceId: string) => Promise<readonly MediaStreamTrack[]>;
  /** Releases the microphone if no call uses it. */
  readonly drop: () => void;
}

/**
 * @param opened the microphone, if it was opened before the first call
 * @param isPush the agent hears nothing unless the visitor holds a button
 */
export function holdMicrophone(
  audio: AudioConstraints,
  opened: MediaStream | undefined,
  isPush: boolean,
): HeldMicrophone {
  let constraints = audio;
  let isMuted = false;
  let isTalking = !isPush;
  let unused = opened;
  let heard = opened;
  /** The stream that this module opened, as opposed to one of the page's. */
  let own = opened;

  function applyMute(): void {
    heard?.getAudioTracks().forEach((track) => (track.enabled = isTalking && !isMuted));
  }

  return {
    get isMuted() {
      return isMuted;
    },
    async open() {
      const stream = unused?.active ? unused : openMicrophone(constraints);
      unused = undefined;
      return (own = await stream);
    },
    async prepare() {
      if (unused?.active) return;
      const stream = await openMicrophone(constraints);
      release(unused);
      unused = stream;
    },
    use(stream) {
      heard = stream;
      applyMute();
    },
    mute(on = true) {
      isMuted = on;
      applyMute();
    },
    talk(on) {
      isTalking = on;
      applyMute();
    },
    async choose(deviceId) {
      constraints = { ...(constraints as MediaTrackConstraints), deviceId: { exact: deviceId } };
      const stream = heard;
      if (stream !== own || !stream?.active) return [];
      const chosen = await openMicrophone(constraints);
      if (!stream.active) {
        // The call has ended meanwhile.
        release(chosen);
        return [];
      }
      release(stream);
      stream.getTracks().forEach((track) => stream.removeTrack(track));
      chosen.getTracks().forEach((track) => stream.addTrack(track));
      applyMute();
      return stream.getTracks();
    },
    drop() {
      release(unused);
      unused = undefined;
    },
  };
}
