import type { DataChannel } from '../protocol/call.ts';
import { parseSdp, type SdpLine } from './sdp-lines.ts';

/** As long as an offer may be, and its answer: some 5 KiB are usual. */
export const MAX_SDP_BYTES = 32 * 1024;

const DIRECTIONS = new Set(['sendrecv', 'sendonly', 'recvonly', 'inactive']);

/** What a media section is, by its first line; undefined for what no call may have. */
type Kind = 'audio' | 'application' | undefined;

/**
 * What is wrong with an offer, or with the answer to one, by the policy of docs/contract.md, section 5.10: one audio that flows, and one
 * data channel at most where the session's agent has it open. Where ICE candidates point is no matter: media never goes through here.
 * @returns words that repeat nothing of the description; undefined when it may pass
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
