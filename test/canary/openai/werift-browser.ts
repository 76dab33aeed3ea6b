import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { RTCPeerConnection, RtpHeader, RtpPacket, useOPUS } from 'werift';
import { deadline } from '../../../src/kernel/async.ts';
import type { Browser } from './browser.ts';

const CONNECT_MS = 10_000;
const FRAME_MS = 20;
const SAMPLES_PER_FRAME = 960;
/** A silent Opus frame. */
const silence = Buffer.from([0xf8, 0xff, 0xfe]);
/** Size of a loud frame, in bytes. */
const LOUD_BYTES = 120;

/** An Opus frame that no encoder made: it decodes to loud noise. */
function noise(): Buffer {
  return Buffer.concat([silence.subarray(0, 1), randomBytes(LOUD_BYTES)]);
}

/** A visitor without words: a WebRTC peer in this process that sends silence, and noise while it speaks. */
export async function openBrowser(): Promise<Browser> {
  const peer = new RTCPeerConnection({
    iceServers: [],
    codecs: { audio: [useOPUS()], video: [] },
    bundlePolicy: 'max-bundle',
  });
  const { sender } = peer.addTransceiver('audio', { direction: 'sendrecv' });
  const channel = peer.createDataChannel('oai-events');
  // To the library an empty list of servers still means a public one.
  for (const { connection } of peer.iceTransports) connection.stunServer = undefined;
  await peer.setLocalDescription(await peer.createOffer());
  let sent = 0;
  let frames: NodeJS.Timeout | undefined;
  let isLoud = false;
  const sendFrame = (): void => {
    sent += 1;
    const header = new RtpHeader({ sequenceNumber: sent & 0xffff, timestamp: sent * SAMPLES_PER_FRAME });
    sender.sendRtp(new RtpPacket(header, isLoud ? noise() : silence)).catch(() => undefined);
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
    async speak(ms) {
      isLoud = true;
      await delay(ms);
      isLoud = false;
    },
    async close() {
      clearInterval(frames);
      await peer.close();
    },
  };
}
