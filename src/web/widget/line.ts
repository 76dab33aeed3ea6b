import { refusal } from './error.ts';

/** Candidates that take longer to find are not waited for. */
const GATHER_MS = 1000;

/**
 * One connection of a WebRTC call of OpenAI's shape: an SDP offer, answered with an SDP.
 * @param exchange posts the offer
 * @param isWhole the offer must say where the browser is: no further word about it can follow
 * @param signal closes it
 * @param watch called as soon as there is an offer
 */
export async function openLine(
  peer: RTCPeerConnection,
  stream: MediaStream,
  player: () => HTMLAudioElement,
  exchange: (offer: string) => Promise<Response>,
  isWhole: boolean,
  signal: AbortSignal,
  watch: () => void,
): Promise<void> {
  signal.addEventListener('abort', () => peer.close());
  for (const track of stream.getAudioTracks()) peer.addTrack(track, stream);
  peer.ontrack = ({ streams }) => {
    const audio = player();
    audio.autoplay = true;
    audio.srcObject = streams[0] ?? null;
  };
  await peer.setLocalDescription();
  watch();
  if (isWhole && peer.iceGatheringState !== 'complete') await gathered(peer);
  const reply = await exchange(peer.localDescription?.sdp ?? '');
  const sdp = await reply.text();
  if (!reply.ok) throw refusal(sdp, reply.status, 'PROVIDER_REFUSED');
  await peer.setRemoteDescription({ type: 'answer', sdp });
}

function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, GATHER_MS);
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve();
  });
}
