import { describe, expect, test } from 'vitest';
import { checkSdp, MAX_SDP_BYTES } from '../../../../src/calls/sdp.ts';
import { exampleAnswer, exampleOffer } from '../../../../src/http/samples.ts';
import { chromium, corpus, safari, sdp } from './corpus.ts';

const AUDIO = 'm=audio 9 UDP/TLS/RTP/SAVPF 111';
const CHANNEL = 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel';
const head = ['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0'];
const offer = (...media: readonly string[]): string => sdp(...head, ...media);

const oneAudio = 'must have exactly one m=audio';
const noKind = 'has media that is neither audio nor a data channel over WebRTC';
const badText = 'has a character that is no printable ASCII, or a CR without an LF';
const badLine = 'has a line that is not like x=value';
const badOrder = 'has lines that are unknown, out of order or repeated';
const notActive = 'has an audio that is not active';
const badAttribute = 'has an a= line that is not like a=name or a=name:value';

describe('A session description passes', () => {
  test.each(Object.entries(corpus))('as %s writes it', (_name, text) => {
    expect(checkSdp(text, 'open')).toBeUndefined();
  });

  test.each(Object.entries(corpus))('as %s writes it, with LF alone, and without the last one', (_name, text) => {
    const lines = text.replaceAll('\r\n', '\n');
    expect(checkSdp(lines, 'open')).toBeUndefined();
    expect(checkSdp(lines.trimEnd(), 'open')).toBeUndefined();
  });

  test.each([
    ['the examples of the description', exampleOffer],
    ['their answer', exampleAnswer],
    ['the least', offer(AUDIO)],
    ['one direction only', offer(AUDIO, 'a=recvonly')],
    ['a direction of its own beside that of the session', sdp(...head, 'a=inactive', AUDIO, 'a=sendrecv')],
    ['a bundled audio without a port', offer(CHANNEL, 'm=audio 0 UDP/TLS/RTP/SAVPF 111', 'a=bundle-only')],
    [
      'every line that a session may have',
      sdp(
        ...head.slice(0, 3),
        'i=x',
        'u=http://x',
        'e=a@b.c',
        'p=+1',
        'c=IN IP4 0.0.0.0',
        'b=AS:1',
        't=0 0',
        'r=1 1 0',
        't=1 1',
        'z=0 0',
        'k=prompt',
        'a=x',
        AUDIO,
        'i=x',
        'c=IN IP4 0.0.0.0',
        'c=IN IP4 0.0.0.1',
        'b=AS:1',
        'k=prompt',
      ),
    ],
    [
      'candidates that point anywhere',
      offer(
        AUDIO,
        'a=candidate:1 1 udp 1 169.254.169.254 80 typ host',
        'a=candidate:2 1 tcp 1 localhost 5432 typ host tcptype passive',
      ),
    ],
  ])('with %s', (_what, text) => {
    expect(checkSdp(text, 'open')).toBeUndefined();
  });

  test('without a data channel if the session has none', () => {
    expect(checkSdp(safari, 'none')).toBeUndefined();
  });
});

describe('A session description is refused', () => {
  test.each(Object.entries(corpus).filter(([, text]) => text.includes('m=application')))(
    'as %s writes it, because of its data channel, if the session has none',
    (_name, text) => {
      expect(checkSdp(text, 'none')).toBe("has an m=application, and this session's calls have no data channel");
    },
  );

  const attacks: readonly (readonly [what: string, text: string, fault: string])[] = [
    ['nothing', '', badLine],
    ['JSON', '{"type":"offer","sdp":"v=0"}', badLine],
    ['a line before v=0', `s=-\r\n${offer(AUDIO)}`, 'does not begin with v=0'],
    ['another version', offer(AUDIO).replace('v=0', 'v=1'), 'does not begin with v=0'],
    ['an empty line first', `\r\n${offer(AUDIO)}`, badLine],
    ['a byte order mark', `\uFEFF${offer(AUDIO)}`, badText],
    ['no origin', sdp('v=0', 's=-', 't=0 0', AUDIO), 'has no o= line after v=0'],
    ['an origin in other words', offer(AUDIO).replace('o=- 1 2', 'o=- one two'), 'has no o= line after v=0'],
    ['no name', sdp('v=0', 'o=- 1 2 IN IP4 127.0.0.1', 't=0 0', AUDIO), 'has no s= line after o='],
    ['no time', sdp('v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', AUDIO), 'has no t= line'],
    ['no media', offer(), oneAudio],
    ['a data channel alone', offer(CHANNEL), oneAudio],
    ['two audios', offer(AUDIO, 'a=mid:0', AUDIO, 'a=mid:1'), oneAudio],
    ['a second audio that is off', offer(AUDIO, 'm=audio 0 UDP/TLS/RTP/SAVPF 111'), oneAudio],
    ['a video', `${chromium}m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=sendrecv\r\n`, noKind],
    ['a video that is inactive', offer(AUDIO, 'm=video 9 UDP/TLS/RTP/SAVPF 96', 'a=inactive'), noKind],
    ['a video that is off', offer(AUDIO, 'm=video 0 UDP/TLS/RTP/SAVPF 96'), noKind],
    ['media of no known kind', offer(AUDIO, 'm=text 9 UDP/TLS/RTP/SAVPF 98'), noKind],
    ['media in capitals', offer('m=AUDIO 9 UDP/TLS/RTP/SAVPF 111'), noKind],
    ['media without formats', offer('m=audio 9 UDP/TLS/RTP/SAVPF'), noKind],
    ['media with two spaces', offer('m=audio  9 UDP/TLS/RTP/SAVPF 111'), noKind],
    ['several ports', offer('m=audio 9/2 UDP/TLS/RTP/SAVPF 111'), noKind],
    ['a port that is none', offer('m=audio 123456 UDP/TLS/RTP/SAVPF 111'), noKind],
    ['audio that is not encrypted', offer('m=audio 9 RTP/AVP 0'), noKind],
    ['a channel of another protocol', offer(AUDIO, 'm=application 9 TCP/BFCP *'), noKind],
    ['a channel of another use', offer(AUDIO, 'm=application 9 UDP/DTLS/SCTP other'), noKind],
    ['two data channels', offer(AUDIO, CHANNEL, CHANNEL), 'has more than one m=application'],
    [
      'a second data channel that is off',
      offer(AUDIO, CHANNEL, 'm=application 0 UDP/DTLS/SCTP webrtc-datachannel'),
      'has more than one m=application',
    ],
    ['an audio that is off', offer('m=audio 0 UDP/TLS/RTP/SAVPF 111'), notActive],
    ['an audio that is off by a longer 0', offer('m=audio 00 UDP/TLS/RTP/SAVPF 111'), notActive],
    ['an audio that is inactive', offer(AUDIO, 'a=inactive'), notActive],
    ['an audio that is inactive by its session', sdp(...head, 'a=inactive', AUDIO), notActive],
    ['two directions', offer(AUDIO, 'a=sendrecv', 'a=inactive'), 'has more than one direction of its audio'],
    ['a bare CR before a video', offer(AUDIO, 'a=x:y\rm=video 9 UDP/TLS/RTP/SAVPF 96'), badText],
    ['a bare CR at the end', `${offer(AUDIO)}\r`, badText],
    ['two CR before an LF', offer(`${AUDIO}\r`), badText],
    ['a NUL', offer(AUDIO, 'a=x:\0'), badText],
    ['a tab', offer(AUDIO, 'a=x:\ty'), badText],
    ['a line separator of Unicode', offer(AUDIO, 'a=x:y\u2028m=video 9 UDP/TLS/RTP/SAVPF 96'), badText],
    ['a next line of ISO 6429', offer(AUDIO, 'a=x:y\u0085m=video 9 UDP/TLS/RTP/SAVPF 96'), badText],
    ['an LF in an attribute, and so a video', offer(AUDIO, 'a=x:y\nm=video 9 UDP/TLS/RTP/SAVPF 96'), noKind],
    ['a video as an attribute', offer(AUDIO, 'a=m=video 9 UDP/TLS/RTP/SAVPF 96'), badAttribute],
    ['an attribute without a name', offer(AUDIO, 'a=:x'), badAttribute],
    ['an attribute without a value', offer(AUDIO, 'a=x:'), badAttribute],
    ['a folded line', offer(AUDIO, 'a=x:y', ' m=video 9 UDP/TLS/RTP/SAVPF 96'), badLine],
    ['a space before the equals sign', offer(AUDIO, 'm =video 9 UDP/TLS/RTP/SAVPF 96'), badLine],
    ['a type in capitals', offer(AUDIO, 'M=video 9 UDP/TLS/RTP/SAVPF 96'), badLine],
    ['a type of two letters', offer(AUDIO, 'aa=x'), badLine],
    ['a type without a value', offer(AUDIO, 'a='), badLine],
    ['an empty line in the middle', offer(AUDIO, '', 'm=video 9 UDP/TLS/RTP/SAVPF 96'), badLine],
    ['two empty lines at the end', `${offer(AUDIO)}\r\n`, badLine],
    ['a type that is unknown', offer(AUDIO, 'x=y'), badOrder],
    ['a second version', sdp('v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 'v=0', 't=0 0', AUDIO), badOrder],
    ['a second name', sdp(...head.slice(0, 3), 's=-', 't=0 0', AUDIO), badOrder],
    ['a session within another', `${offer(AUDIO)}${offer(AUDIO)}`, badOrder],
    ['a connection after attributes', offer(AUDIO, 'a=x', 'c=IN IP4 0.0.0.0'), badOrder],
  ];

  test.each(attacks)('with %s', (_what, text, fault) => {
    expect(checkSdp(text, 'open')).toBe(fault);
  });

  test('if it is longer than 32 KiB, but not at exactly that length', () => {
    const filled = (length: number): string => {
      const start = offer(AUDIO);
      return `${start}${'a=x\r\n'.repeat(10)}a=y:${'z'.repeat(length - start.length - 50 - 6)}\r\n`;
    };
    expect(filled(MAX_SDP_BYTES)).toHaveLength(MAX_SDP_BYTES);
    expect(checkSdp(filled(MAX_SDP_BYTES), 'open')).toBeUndefined();
    expect(checkSdp(filled(MAX_SDP_BYTES + 1), 'open')).toBe('is longer than 32 KiB');
  });

  test.each([
    ['attributes', 'a=x\n', undefined],
    ['media', 'm=audio 9 UDP/TLS/RTP/SAVPF 111\n', oneAudio],
    ['times', 't=0 0\n', badOrder],
    ['lines that are none', 'a\n', badLine],
    ['ends of lines', '\n', badLine],
    ['ends of lines and a CR', '\r\n\r', badText],
  ])('depending on its content, if it is 32 KiB of %s', (_what, line, fault) => {
    const start = offer(AUDIO);
    const text = start + line.repeat(Math.floor((MAX_SDP_BYTES - start.length) / line.length));
    expect(checkSdp(text, 'open')).toBe(fault);
  });

  test('with a message that repeats nothing of it', () => {
    const told = attacks.map(([, text]) => checkSdp(text.replaceAll('x:y', 'secret:secret'), 'open') ?? '');
    expect(told.join()).not.toContain('secret');
  });
});
