// Just enough of RFC 6455 for a load generator: one masked text frame out, short unmasked ones in.

const mask = [0x12, 0x34, 0x56, 0x78];

/** A masked text frame of less than 64 KiB. */
export function textFrame(text) {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length, ...mask])
      : Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 255, ...mask]);
  for (let i = 0; i < payload.length; i += 1) payload[i] ^= mask[i & 3];
  return Buffer.concat([head, payload]);
}

/** A masked pong with the payload of a ping. */
export function pongFrame(payload) {
  const body = Buffer.from(payload);
  for (let i = 0; i < body.length; i += 1) body[i] ^= mask[i & 3];
  return Buffer.concat([Buffer.from([0x8a, 0x80 | body.length, ...mask]), body]);
}

/** The frame that starts at `from`: its opcode and where its payload begins and ends; undefined when it is not whole. */
export function frameAt(buffer, from, until) {
  if (until - from < 2) return undefined;
  const short = buffer[from + 1] & 127;
  if (short === 126 && until - from < 4) return undefined;
  const begin = from + (short === 126 ? 4 : 2);
  const end = begin + (short === 126 ? buffer.readUInt16BE(from + 2) : short);
  return end > until ? undefined : { opcode: buffer[from] & 15, begin, end };
}

/** The request that opens a socket. */
export function upgradeRequest(port) {
  return [
    'GET /api/realtime/socket HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: switchboard.v1',
    '',
    '',
  ].join('\r\n');
}
