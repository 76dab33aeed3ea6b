import type { DataChannel } from '../protocol/call.ts';

/** The most bytes of an offer or an answer: some 5 KiB are usual. */
export const MAX_SDP_BYTES = 32 * 1024;

const DIRECTIONS = new Set(['sendrecv', 'sendonly', 'recvonly', 'inactive']);

/** The kind of a media section, from its first line; undefined for one that no call may have. */
type Kind = 'audio' | 'application' | undefined;

/**
 * Checks an offer or an answer against the policy of docs/contract.md, section 5.10: exactly one active audio, and at most one data channel where the
 * session's agent has it open. Where ICE candidates point does not matter: media never passes through here.
 * @returns what is wrong, quoting nothing of the description; undefined when it may pass
 */
export function checkSdp(text: string, dataChannel: DataChannel): string | undefined {
  if (text.length > MAX_SDP_BYTES) return 'is longer than 32 KiB';
  const sdp = parseSdp(text);
  if (typeof sdp === 'string') return sdp;
  const kinds = sdp.media.map(([line]) => kindOf(line?.value ?? ''));
  if (kinds.includes(undefined)) return 'has media that is neither audio nor a data channel over WebRTC';
  const [audio, ...others] = sdp.media.filter((_, index) => kinds[index] === 'audio');
  if (audio === undefined || others.length > 0) return 'must have exactly one m=audio';
  const channels = kinds.length - 1;
  if (channels > 1) return 'has more than one m=application';
  if (channels > 0 && dataChannel === 'none')
    return "has an m=application, and this session's calls have no data channel";
  return findAudioFault(audio, sdp.session);
}

function kindOf(value: string): Kind {
  const [, media, protocol = '', formats = ''] = /^(\w+) \d{1,5} (\S+) (.+)$/.exec(value) ?? [];
  if (media === 'audio' && /^(?:UDP|TCP)\/TLS\/RTP\/SAVPF$/.test(protocol) && /^\d{1,3}(?: \d{1,3})*$/.test(formats))
    return 'audio';
  const isChannel = /^(?:UDP|TCP)\/DTLS\/SCTP$/.test(protocol) && formats === 'webrtc-datachannel';
  return media === 'application' && isChannel ? 'application' : undefined;
}

function findAudioFault(audio: readonly SdpLine[], session: readonly SdpLine[]): string | undefined {
  const attributes = attributesOf(audio);
  // In a bundle a port of 0 means that the audio shares the transport of another section (RFC 8843, section 7.2).
  const isOff = /^audio 0+ /.test(audio[0]?.value ?? '') && !attributes.includes('bundle-only');
  const own = directionsOf(attributes);
  const directions = own.length > 0 ? own : directionsOf(attributesOf(session));
  if (directions.length > 1) return 'has more than one direction of its audio';
  return isOff || directions[0] === 'inactive' ? 'has an audio that is not active' : undefined;
}

function attributesOf(lines: readonly SdpLine[]): string[] {
  return lines.filter(({ type }) => type === 'a').map(({ value }) => value);
}

function directionsOf(attributes: readonly string[]): string[] {
  return attributes.filter((attribute) => DIRECTIONS.has(attribute));
}

/** One line of a session description: `type=value`. */
interface SdpLine {
  readonly type: string;
  readonly value: string;
}

interface Sdp {
  /** The lines above the first `m=`. */
  readonly session: readonly SdpLine[];
  /** One list of lines for each `m=` line, which is its first. */
  readonly media: readonly (readonly SdpLine[])[];
}

/** The order of RFC 8866, section 5. A type in `SINGLE` may not be repeated. */
const SESSION_ORDER = 'vosiuepcbtrzka';
const MEDIA_ORDER = 'micbka';
const SINGLE = new Set(['v', 'o', 's', 'i', 'u', 'z', 'k', 'm']);
/** Repetitions (`r`) belong to the time (`t`) above them, so the two may alternate. */
const IN_TURN = 'tr';

/**
 * Reads a session description by the grammar of RFC 8866, narrowed to what browsers and providers write: printable ASCII, lines that end with CRLF or
 * LF.
 * @returns the lines, or what is wrong, quoting nothing of them
 */
function parseSdp(text: string): Sdp | string {
  // A parser that takes a bare CR for the end of a line would see lines that this one does not.
  if (!/^(?:[\x20-\x7e]|\r?\n)*$/.test(text))
    return 'has a character that is no printable ASCII, or a CR without an LF';
  const lines: SdpLine[] = [];
  for (const line of text.replace(/\r?\n$/, '').split(/\r?\n/)) {
    if (!/^[a-z]=./.test(line)) return 'has a line that is not like x=value';
    lines.push({ type: line.charAt(0), value: line.slice(2) });
  }
  const starts = lines.flatMap(({ type }, at) => (type === 'm' ? [at] : []));
  const session = lines.slice(0, starts[0] ?? lines.length);
  const media = starts.map((start, index) => lines.slice(start, starts[index + 1] ?? lines.length));
  return findDisorder(session, media) ?? { session, media };
}

function findDisorder(session: readonly SdpLine[], media: readonly (readonly SdpLine[])[]): string | undefined {
  const [version, origin, name] = session;
  if (version?.type !== 'v' || version.value !== '0') return 'does not begin with v=0';
  if (origin?.type !== 'o' || !/^\S+ \d+ \d+ IN IP[46] \S+$/.test(origin.value)) return 'has no o= line after v=0';
  if (name?.type !== 's') return 'has no s= line after o=';
  if (!session.some(({ type }) => type === 't')) return 'has no t= line';
  if (!isOrdered(session, SESSION_ORDER) || !media.every((lines) => isOrdered(lines, MEDIA_ORDER)))
    return 'has lines that are unknown, out of order or repeated';
  const attributes = [...session, ...media.flat()].filter(({ type }) => type === 'a');
  return attributes.every(({ value }) => /^[!#$%&'*+\-.^_`{|}~\w]+(?::.+)?$/.test(value))
    ? undefined
    : 'has an a= line that is not like a=name or a=name:value';
}

function isOrdered(lines: readonly SdpLine[], order: string): boolean {
  let last = -1;
  return lines.every(({ type }) => {
    const at = order.indexOf(type);
    const isNext = at > last || (at === last && !SINGLE.has(type)) || (IN_TURN.includes(type) && last === at + 1);
    last = at;
    return at >= 0 && isNext;
  });
}
