import type { AudioCall, AudioOptions, Session } from './api.ts';
import { SwitchboardError } from './error.ts';
import { watchVoices } from './voices.ts';

const OPENAI_CALLS = 'https://api.openai.com/v1/realtime/calls';
/** Someone speaks, or an answer is on its way. */
const SPEECH = /^(input_audio_buffer|output_audio_buffer|response)\./;

function failed(code: string, error: string, userMessage: string, status = 0): SwitchboardError {
  return new SwitchboardError({ code, error, userMessage }, status);
}

async function openMicrophone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (cause) {
    throw failed('MICROPHONE_BLOCKED', String(cause), 'Please allow this page to use the microphone.');
  }
}

/** Joins a WebRTC call of OpenAI's shape: an SDP offer with the client secret, answered with an SDP. */
export async function callProvider(session: Session, options: AudioOptions, send: typeof fetch): Promise<AudioCall> {
  if (session.clientSecret.value.startsWith('ek_local_'))
    throw failed(
      'SIMULATED_PROVIDER',
      'Switchboard runs without a provider key, so nobody answers a call. Set OPENAI_API_KEY.',
      'The voice service is only simulated here.',
    );
  const stream = options.stream ?? (await openMicrophone());
  const peer = new RTCPeerConnection();
  const channel = peer.createDataChannel('oai-events');
  const stopWatching = watchVoices(peer, session.active);
  function stop(): void {
    stopWatching();
    peer.close();
    if (options.stream === undefined) for (const track of stream.getTracks()) track.stop();
  }

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

  try {
    await peer.setLocalDescription();
    const reply = await send(options.callsUrl ?? OPENAI_CALLS, {
      method: 'POST',
      headers: { Authorization: `Bearer ${session.clientSecret.value}`, 'Content-Type': 'application/sdp' },
      body: peer.localDescription?.sdp ?? '',
    });
    const sdp = await reply.text();
    if (!reply.ok) throw failed('PROVIDER_REFUSED', sdp, 'The voice service did not take the call.', reply.status);
    await peer.setRemoteDescription({ type: 'answer', sdp });
  } catch (error) {
    stop();
    throw error instanceof SwitchboardError
      ? error
      : failed('PROVIDER_REFUSED', String(error), 'The voice service could not be reached.');
  }
  session.active();
  return { peer, channel, stream, stop };
}
