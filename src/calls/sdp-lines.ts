/** One line of a session description: `type=value`. */
export interface SdpLine {
  readonly type: string;
  readonly value: string;
}

/** A session description, parsed. */
export interface Sdp {
  /** The lines above the first `m=`. */
  readonly session: readonly SdpLine[];
  /** One list of lines for each `m=`, which is its first. */
  readonly media: readonly (readonly SdpLine[])[];
}

/** In the order of RFC 8866, section 5; a type that may follow one of its own kind only is no part of it twice. */
const SESSION_ORDER = 'vosiuepcbtrzka';
const MEDIA_ORDER = 'micbka';
const SINGLE = new Set(['v', 'o', 's', 'i', 'u', 'z', 'k', 'm']);
/** Repetitions (`r`) belong to the time (`t`) above them, so that both stand in turn. */
const IN_TURN = 'tr';

/**
 * Reads a session description by the grammar of RFC 8866, narrowed to what browsers and providers write: printable ASCII, lines that end
 * with CRLF or LF. @returns what is wrong, in words that repeat nothing of it
 */
export function parseSdp(text: string): Sdp | string {
  // Whoever takes a bare CR for the end of a line would see lines that are not seen here.
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
