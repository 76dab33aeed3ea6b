// Just enough of RFC 6455 for a load generator: sends one masked text frame, reads short unmasked ones.
import net from 'node:net';

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

/** A masked pong with a ping's payload. */
export function pongFrame(payload) {
  const body = Buffer.from(payload);
  for (let i = 0; i < body.length; i += 1) body[i] ^= mask[i & 3];
  return Buffer.concat([Buffer.from([0x8a, 0x80 | body.length, ...mask]), body]);
}

/** The frame that starts at `from`: its opcode and where its payload begins and ends; undefined while it is incomplete. */
function frameAt(buffer, from, until) {
  if (until - from < 2) return undefined;
  const short = buffer[from + 1] & 127;
  if (short === 126 && until - from < 4) return undefined;
  const begin = from + (short === 126 ? 4 : 2);
  const end = begin + (short === 126 ? buffer.readUInt16BE(from + 2) : short);
  return end > until ? undefined : { opcode: buffer[from] & 15, begin, end };
}

/** The request that opens a socket. */
export function upgradeRequest(port, path, protocol) {
  return [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    '',
    '',
  ].join('\r\n');
}

/**
 * Opens a socket to Switchboard, unless `path` and `protocol` say otherwise.
 * @param on `opened()` once it may be written to, `refused(reply)` for an answer other than 101, and `frame(buffer, { opcode, begin, end })`
 *   for each frame, with the position of its payload
 */
export function openSocket({ port, localAddress, path = '/api/realtime/socket', protocol = 'switchboard.v1' }, on) {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
  let rest = Buffer.alloc(0);
  let isOpen = false;
  socket.on('connect', () => socket.write(upgradeRequest(port, path, protocol)));
  socket.on('data', (chunk) => {
    let buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (!isOpen) {
      const headEnd = buffer.indexOf('\r\n\r\n');
      if (headEnd < 0) {
        rest = buffer;
        return;
      }
      if (buffer.toString('latin1', 9, 12) !== '101') on.refused(buffer.toString('latin1'));
      isOpen = true;
      buffer = buffer.subarray(headEnd + 4);
      on.opened();
    }
    let from = 0;
    for (let frame = frameAt(buffer, 0, buffer.length); frame; frame = frameAt(buffer, from, buffer.length)) {
      from = frame.end;
      on.frame(buffer, frame);
    }
    rest = from === buffer.length ? Buffer.alloc(0) : Buffer.from(buffer.subarray(from));
  });
  return socket;
}
