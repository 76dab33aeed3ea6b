/** An offer as browsers make it, with all its candidates. */
export function offerSdp({ channel = true } = {}): string {
  return sdp(channel, 'actpass');
}

/** An answer as the provider gives it. */
export function answerSdp(offer: string): string {
  return sdp(/^m=application /m.test(offer), 'active');
}

const fingerprint = Array.from({ length: 32 }, (_, index) => (index + 16).toString(16).toUpperCase()).join(':');

function sdp(channel: boolean, setup: string): string {
  const transport = [
    'c=IN IP4 0.0.0.0',
    'a=ice-ufrag:fLqX',
    'a=ice-pwd:3wCQ1Vb7HnFzYp0eTt9sUkMd',
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${setup}`,
  ];
  const lines = [
    'v=0',
    'o=- 4611732581834511287 2 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    `a=group:BUNDLE 0${channel ? ' 1' : ''}`,
    'a=msid-semantic: WMS realtimeapi',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111',
    ...transport,
    'a=candidate:1 1 udp 2130706431 127.0.0.1 3478 typ host',
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 minptime=10;useinbandfec=1',
    'a=ssrc:1846539321 cname:realtimeapi',
    ...(channel
      ? ['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', ...transport, 'a=mid:1', 'a=sctp-port:5000']
      : []),
  ];
  return `${lines.join('\r\n')}\r\n`;
}

export const videoSection = 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:2\r\na=inactive\r\n';
