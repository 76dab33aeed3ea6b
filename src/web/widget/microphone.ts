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

/** Gives a microphone back: the browser takes its sign away. */
export function release(stream: MediaStream | undefined): void {
  stream?.getTracks().forEach((track) => track.stop());
}

/**
 * What a call without a microphone sends. It begins once the visitor has touched the page, which is no matter to the call.
 * @param signal ends it
 */
export function silence(signal: AbortSignal): MediaStream {
  const context = new AudioContext();
  const { stream } = context.createMediaStreamDestination();
  atEnd(signal, () => void context.close());
  return stream;
}

/** Those to choose from; their names are empty until the visitor has allowed one. @throws SwitchboardError MICROPHONE_INSECURE */
export async function listMicrophones(): Promise<MediaDeviceInfo[]> {
  const all = await mediaDevices().enumerateDevices();
  return all.filter(({ kind }) => kind === 'audioinput');
}

function mediaDevices(): MediaDevices {
  const devices = globalThis.navigator?.mediaDevices;
  // Browsers give them to secure contexts only.
  if (!devices) throw failure('MICROPHONE_INSECURE');
  return devices;
}

/** The microphone of a session: muted, or another, also while it is heard. */
export interface HeldMicrophone {
  readonly isMuted: boolean;
  /** For a call: the one that was opened before, or another. @throws SwitchboardError as `openMicrophone` */
  readonly open: () => Promise<MediaStream>;
  /** Opens the one that the next call takes, unless it is open. @throws SwitchboardError as `openMicrophone` */
  readonly prepare: () => Promise<void>;
  /** The agent hears this one, which may be the page's own: then the page alone changes and stops it. */
  readonly use: (stream: MediaStream) => void;
  readonly mute: (on?: boolean) => void;
  /** Of a visitor who holds a button to speak: whether they do. */
  readonly talk: (on: boolean) => void;
  /** Puts another into the stream that is heard, if any. @returns what to send from now on @throws SwitchboardError as `openMicrophone` */
  readonly choose: (deviceId: string) => Promise<readonly MediaStreamTrack[]>;
  /** Gives back what no call has taken. */
  readonly drop: () => void;
}

/**
 * @param opened what was opened before the first call
 * @param isPush nothing is heard unless the visitor holds a button
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
  /** Not the page's. */
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
        // The call is over by now.
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
