import { randomInt } from 'node:crypto';
import type { MediaStreamTrack, RTCDataChannel, RTCPeerConnection, RTCRtpSender, RtpPacket } from 'werift';
import { sayGoodbye } from './goodbye.ts';
import type { WebRtc } from './web-rtc.ts';

/** The only address that the peer offers and listens on: its library is not meant for networks. */
const ADDRESS = '127.0.0.1';
const OPUS = 111;
const AUDIO_LEVEL = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level';
/** Higher than the record numbers that the handshake uses. */
const FIRST_DATA_RECORD = 64;

/** What a peer reports about the browser at the other end. */
export interface PeerEvents {
  readonly connected: () => void;
  /** A sign of life. */
  readonly alive: () => void;
  /** A packet of audio. Its level is in decibels below full scale, if the browser reports it. */
  readonly audio: (levelDb: number | undefined, bytes: number) => void;
  readonly channel: (channel: RTCDataChannel) => void;
  /** The browser has left (`remote`), or cannot be reached (`lost`). */
  readonly gone: (why: 'remote' | 'lost') => void;
}

/**
 * One end of a WebRTC call with a browser on this computer. It takes an offer, and sends all audio back with a delay. After `close` it sends no
 * further packet of audio.
 */
export class EchoPeer {
  readonly #webRtc: WebRtc;
  readonly #peer: RTCPeerConnection;
  readonly #on: PeerEvents;
  readonly #delayMs: number;
  readonly #sender: RTCRtpSender;
  #levelId: number | undefined;
  /** Incremented to discard what is waiting to be sent. */
  #epoch = 0;
  #isClosed = false;
  // Offsets rather than counters, so that gaps and losses keep their places.
  readonly #sequenceOffset = randomInt(2 ** 16);
  readonly #timestampOffset = randomInt(2 ** 31);

  constructor(webRtc: WebRtc, delayMs: number, on: PeerEvents) {
    this.#webRtc = webRtc;
    this.#delayMs = delayMs;
    this.#on = on;
    this.#peer = new webRtc.RTCPeerConnection({
      iceServers: [],
      // Interfaces are not enumerated: only this address is offered and bound to.
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: [ADDRESS],
      iceInterfaceAddresses: { udp4: ADDRESS },
      iceFilterStunResponse: () => {
        on.alive();
        return true;
      },
      codecs: { audio: [webRtc.useOPUS({ payloadType: OPUS })], video: [] },
      headerExtensions: { audio: [new webRtc.RTCRtpHeaderExtensionParameters({ uri: AUDIO_LEVEL })], video: [] },
      bundlePolicy: 'max-bundle',
    });
    this.#sender = this.#peer.addTransceiver('audio', { direction: 'sendrecv' }).sender;
    this.#peer.onTrack.subscribe((track: MediaStreamTrack) =>
      track.onReceiveRtp.subscribe((packet) => this.#hear(packet)),
    );
    this.#peer.onDataChannel.subscribe((channel) => on.channel(channel));
    // `disconnected` follows a single unanswered check, and proves nothing.
    this.#peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') on.connected();
      if (state === 'failed') on.gone('lost');
    });
  }

  /** @returns the answer, including its candidate @throws Error for an offer without audio, or one that the library does not understand */
  async answer(offerSdp: string): Promise<string> {
    if (!/^m=audio /m.test(offerSdp)) throw new Error('the offer has no audio');
    const peer = this.#peer;
    await peer.setRemoteDescription({ type: 'offer', sdp: withoutCandidates(offerSdp) });
    const level = Object.entries(peer.extIdUriMap).find(([, uri]) => uri === AUDIO_LEVEL);
    this.#levelId = level && Number(level[0]);
    // Without a STUN server the library uses a public one, and there is no option to prevent that.
    for (const { connection } of peer.iceTransports) Object.assign(connection, { stunServer: undefined });
    await peer.setLocalDescription(await peer.createAnswer());
    this.#watchEncryption();
    return peer.localDescription?.sdp ?? '';
  }

  #watchEncryption(): void {
    const [transport] = this.#peer.dtlsTransports;
    transport?.onStateChange.subscribe((state) => {
      // The library uses the same number for its last record of the handshake and one of data, and browsers drop the second.
      if (state === 'connected' && transport.dtls !== undefined)
        transport.dtls.dtls.recordSequenceNumber += FIRST_DATA_RECORD;
      // The browser has said goodbye, which the connection's state does not show.
      if (state === 'closed') this.#on.gone('remote');
    });
  }

  #hear({ header, payload }: RtpPacket): void {
    if (this.#isClosed) return;
    const level = header.extensions.find(({ id }) => id === this.#levelId)?.payload[0];
    this.#on.audio(level === undefined ? undefined : level & 0x7f, payload.length);
    // A new header, because header extensions of the browser's packet do not apply to the echo.
    const { RtpHeader, RtpPacket } = this.#webRtc;
    const echo = new RtpPacket(
      new RtpHeader({
        payloadType: header.payloadType,
        marker: header.marker,
        sequenceNumber: (header.sequenceNumber + this.#sequenceOffset) & 0xffff,
        timestamp: (header.timestamp + this.#timestampOffset) >>> 0,
      }),
      Buffer.from(payload),
    );
    const epoch = this.#epoch;
    setTimeout(() => {
      if (epoch === this.#epoch) this.#sender.sendRtp(echo).catch(() => undefined);
    }, this.#delayMs).unref();
  }

  /** Discards what is waiting to be sent. */
  silence(): void {
    this.#epoch += 1;
  }

  /** Silences the call at once, then tells the browser that it is over. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.silence();
    await sayGoodbye(this.#peer);
  }
}

/**
 * The browser's own connectivity check reveals its address without delay. Candidates in the offer could name any address, and for names ending
 * in `.local` the library queries the network for ten seconds.
 */
function withoutCandidates(sdp: string): string {
  return sdp
    .split(/\r?\n/)
    .filter((line) => !/^a=(?:candidate:|end-of-candidates)/.test(line))
    .join('\r\n');
}
