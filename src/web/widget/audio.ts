import type { AudioCall, AudioOptions, MediaEvent, Session } from './api.ts';
import { failure, SwitchboardError } from './error.ts';
import { watchMedia } from './media.ts';
import { release } from './microphone.ts';
import { watchVoices } from './voices.ts';

const OPENAI_CALLS = 'https://api.openai.com/v1/realtime/calls';
/** Someone speaks, or an answer is on its way. */
const SPEECH = /^(input_audio_buffer|output_audio_buffer|response)\./;

/** What a call needs of its session. */
export interface CallDeps {
  readonly session: Session;
  /** The microphone, unless the page gave a stream. */
  readonly open: () => Promise<MediaStream>;
  readonly send: typeof fetch;
  /** Ends the call, with the reason why there can be none. */
  readonly hangUp: AbortController;
  readonly tell: (event: MediaEvent) => void;
}

/**
 * Joins a WebRTC call of OpenAI's shape: an SDP offer with the client secret, answered with an SDP. However the call ends, or does
 * not begin, it is by the signal of `hangUp`, which closes the peer and gives the microphone back.
 */
export async function callProvider(deps: CallDeps, options: AudioOptions): Promise<AudioCall> {
  const { session, open, send, hangUp, tell } = deps;
  const { signal } = hangUp;
  signal.throwIfAborted();
  if (session.clientSecret.value.startsWith('ek_local_'))
    throw failure('SIMULATED_PROVIDER', 'Switchboard has no provider key, so nobody answers. Set OPENAI_API_KEY.');
  const stream = options.stream ?? (await open());
  const atEnd = (work: () => void): void => (signal.aborted ? work() : signal.addEventListener('abort', work));
  if (options.stream === undefined) atEnd(() => release(stream));
  signal.throwIfAborted();

  function lose(error: SwitchboardError): void {
    if (signal.aborted) return;
    hangUp.abort(error);
    tell({ state: 'lost', error });
  }

  tell({ state: 'connecting' });
  try {
    const peer = new RTCPeerConnection();
    const channel = peer.createDataChannel('oai-events');
    atEnd(() => peer.close());
    atEnd(watchVoices(peer, session.active));
    for (const track of stream.getAudioTracks()) peer.addTrack(track, stream);
    peer.ontrack = ({ streams }) => {
      const player = options.audioElement ?? new Audio();
      player.autoplay = true;
      player.srcObject = streams[0] ?? null;
    };
    channel.addEventListener('message', ({ data }) => {
      const { type, response } = JSON.parse(data as string);
      if (SPEECH.test(type)) session.active();
      if (type === 'response.done' && response?.usage && options.reportUsage)
        session.reportUsage({ id: response.id, ...options.reportUsage(response.usage) }).catch(() => 0);
    });

    await peer.setLocalDescription();
    watchMedia(peer, stream, signal, tell, lose);
    const reply = await send(options.callsUrl ?? OPENAI_CALLS, {
      method: 'POST',
      headers: { Authorization: `Bearer ${session.clientSecret.value}`, 'Content-Type': 'application/sdp' },
      body: peer.localDescription?.sdp ?? '',
      signal,
    });
    const sdp = await reply.text();
    if (!reply.ok) throw failure('PROVIDER_REFUSED', sdp, reply.status);
    await peer.setRemoteDescription({ type: 'answer', sdp });
    session.active();
    return { peer, channel, stream, stop: () => hangUp.abort() };
  } catch (cause) {
    lose(cause instanceof SwitchboardError ? cause : failure('PROVIDER_REFUSED', cause));
    throw signal.reason;
  }
}
