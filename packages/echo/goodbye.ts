import { setTimeout as delay } from 'node:timers/promises';
import type { RTCPeerConnection } from 'werift';

/** The content type of an alert in a record of DTLS, and the alert itself: a warning, close_notify. */
const ALERT = 21;
const CLOSE_NOTIFY = Buffer.from([1, 0]);
/** Datagrams leave on a later turn of the event loop: with the socket closed at once they would be lost. */
const SEND_MS = 20;

/**
 * Tells the browser that the call is over, and closes the peer. Closed without a word, the browser's channel stays open, its connection
 * is `failed` after 15 seconds only, and its microphone goes on sending for so long.
 */
export async function sayGoodbye(peer: RTCPeerConnection): Promise<void> {
  // Aborts SCTP: the page's channel closes.
  await peer.sctpTransport?.stop().catch(() => undefined);
  await closeDtls(peer).catch(() => undefined);
  await peer.close().catch(() => undefined);
}

/** The library sends no close_notify: its path for application data does, with the type of the record changed. */
async function closeDtls(peer: RTCPeerConnection): Promise<void> {
  const socket = peer.dtlsTransports[0]?.dtls;
  if (socket?.connected !== true) return;
  const { cipher } = socket;
  const encrypt = cipher.encryptPacket.bind(cipher);
  cipher.encryptPacket = (packet) => {
    packet.recordLayerHeader.contentType = ALERT;
    return encrypt(packet);
  };
  await socket.send(CLOSE_NOTIFY);
  await delay(SEND_MS);
}
