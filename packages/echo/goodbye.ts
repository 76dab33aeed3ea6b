import { setTimeout as delay } from 'node:timers/promises';
import type { RTCPeerConnection } from 'werift';

/** The content type of an alert in a DTLS record, and the alert itself: level warning, close_notify. */
const ALERT = 21;
const CLOSE_NOTIFY = Buffer.from([1, 0]);
/** Datagrams are sent in a later turn of the event loop, and would be lost if the socket were closed at once. */
const SEND_MS = 20;

/**
 * Tells the browser that the call is over, and closes the peer. Otherwise the browser's channel would stay open, its connection would become
 * `failed` only after 15 seconds, and its microphone would go on sending until then.
 */
export async function sayGoodbye(peer: RTCPeerConnection): Promise<void> {
  // Aborts SCTP, which closes the page's channel.
  await peer.sctpTransport?.stop().catch(() => undefined);
  await closeDtls(peer).catch(() => undefined);
  await peer.close().catch(() => undefined);
}

/** The library cannot send close_notify, so this uses its path for application data and changes the record's type. */
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
