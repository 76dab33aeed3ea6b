import { RTCPeerConnection, RtpHeader, RtpPacket, useOPUS } from 'werift';
import { deadline } from '../../../src/kernel/deadline.ts';
import type { Browser } from './browser.ts';

const CONNECT_MS = 10_000;
const FRAME_MS = 20;
const SAMPLES_PER_FRAME = 960;
/** A frame of Opus in which nobody speaks. */
const silence = Buffer.from([0xf8, 0xff, 0xfe]);

/** A visitor who says nothing: a WebRTC peer of this process that sends silence. */
export async function openBrowser(): Promise<Browser> {
  const peer = new RTCPeerConnection({
    iceServers: [],
    codecs: { audio: [useOPUS()], video: [] },
    bundlePolicy: 'max-bundle',
  });
  const { sender } = peer.addTransceiver('audio', { direction: 'sendrecv' });
  const channel = peer.createDataChannel('oai-events');
  // An empty list of servers still means a public one to it.
  for (const { connection } of peer.iceTransports) connection.stunServer = undefined;
  await peer.setLocalDescription(await peer.createOffer());
  let sent = 0;
  let frames: NodeJS.Timeout | undefined;
  const sendFrame = (): void => {
    sent += 1;
    const header = new RtpHeader({ sequenceNumber: sent & 0xffff, timestamp: sent * SAMPLES_PER_FRAME });
    sender.sendRtp(new RtpPacket(header, silence)).catch(() => undefined);
  };

  return {
    offerSdp: peer.localDescription?.sdp ?? '',
    async accept(answerSdp) {
      const opened = new Promise<boolean>((resolve) => {
        const callOff = deadline(CONNECT_MS, () => resolve(false));
        channel.stateChanged.subscribe((state) => {
          if (state !== 'open') return;
          callOff();
          resolve(true);
        });
      });
      await peer.setRemoteDescription({ type: 'answer', sdp: answerSdp });
      frames = setInterval(sendFrame, FRAME_MS);
      return opened;
    },
    say: (event) => channel.send(JSON.stringify(event)),
    async close() {
      clearInterval(frames);
      await peer.close();
    },
  };
}
