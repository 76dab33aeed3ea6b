const maxKnown = 10_000;
const known4 = new Map<number, string>();
const known6 = new Map<string, string>();

/**
 * The peer's address as text: dotted IPv4 (also for IPv4 inside IPv6, ::ffff:0:0/96), else IPv6 as RFC 5952 writes it.
 * Known addresses are looked up: this runs once per request.
 * @param native 4 or 16 bytes in network order, as uWebSockets.js gives them
 */
export function peerText(native: ArrayBuffer): string {
  const bytes = new DataView(native);
  if (bytes.byteLength === 4) return text4(bytes.getUint32(0));
  if (bytes.byteLength !== 16) return '';
  const isMapped = bytes.getUint32(0) === 0 && bytes.getUint32(4) === 0 && bytes.getUint32(8) === 0xffff;
  return isMapped ? text4(bytes.getUint32(12)) : text6(Buffer.from(native).toString('hex'));
}

function text4(address: number): string {
  return (
    known4.get(address) ?? learn(known4, address, [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.'))
  );
}

function text6(hex: string): string {
  return known6.get(hex) ?? learn(known6, hex, compressed(hex));
}

/** The URL standard's serializer compresses as RFC 5952 does. */
function compressed(hex: string): string {
  const groups = hex.match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

function learn<Key>(known: Map<Key, string>, key: Key, text: string): string {
  // Forgetting all at once keeps the memory bounded and costs nothing per request.
  if (known.size >= maxKnown) known.clear();
  known.set(key, text);
  return text;
}
