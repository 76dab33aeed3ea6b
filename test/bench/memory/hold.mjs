// Holds sockets until it is stopped: opens as many as it is told to by message, attaches each to its session, and answers pings.
import net from 'node:net';
import { frameAt, pongFrame, textFrame, upgradeRequest } from '../socket/frames.mjs';

/** Opened so many at once: more than a listen queue has room for would wait a second. */
const AT_ONCE = 100;

/** @param attach the frame's fields beside its type; none for a server that knows no sessions */
function open(port, attach) {
  return new Promise((resolve, reject) => {
    let rest = Buffer.alloc(0);
    let isOpen = false;
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('connect', () => socket.write(upgradeRequest(port)));
    socket.on('error', reject);
    // Ends the process, which the bench hears of.
    socket.on('close', () => {
      throw new Error('a socket was closed by the server');
    });
    const take = (opcode, payload) => {
      if (opcode === 9) socket.write(pongFrame(payload));
      else if (opcode === 8) throw new Error(`closed with ${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`);
      else if (payload.toString('latin1', 0, 18) === '{"type":"attached"') resolve();
      else throw new Error(payload.toString());
    };
    socket.on('data', (chunk) => {
      let buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (!isOpen) {
        const headEnd = buffer.indexOf('\r\n\r\n');
        if (headEnd < 0) {
          rest = buffer;
          return;
        }
        if (buffer.toString('latin1', 9, 12) !== '101') reject(new Error(buffer.toString('latin1')));
        isOpen = true;
        buffer = buffer.subarray(headEnd + 4);
        if (attach === undefined) resolve();
        else socket.write(textFrame(JSON.stringify({ type: 'attach', ...attach })));
      }
      let from = 0;
      for (let frame = frameAt(buffer, 0, buffer.length); frame; frame = frameAt(buffer, from, buffer.length)) {
        from = frame.end;
        take(frame.opcode, buffer.subarray(frame.begin, frame.end));
      }
      rest = from === buffer.length ? Buffer.alloc(0) : Buffer.from(buffer.subarray(from));
    });
  });
}

async function hold({ port, count, attaches }) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await open(port, attaches?.[next - 1]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  process.send({ held: count });
}

process.on('message', (order) => void hold(order));
process.on('disconnect', () => process.exit());
