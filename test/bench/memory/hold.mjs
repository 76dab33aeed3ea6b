// Holds sockets until it is stopped: opens as many as a message says, attaches each to its session, and answers pings.
import { openSocket, pongFrame, textFrame } from '../support/load/frames.mjs';

/** How many sockets are opened at once: more than fit into a listen queue would wait for a second. */
const AT_ONCE = 100;

/** @param attach the frame's fields besides its type; undefined for a server that knows no sessions */
function open(port, attach) {
  return new Promise((resolve, reject) => {
    const take = (opcode, payload) => {
      if (opcode === 9) socket.write(pongFrame(payload));
      else if (opcode === 8) throw new Error(`closed with ${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`);
      else if (payload.toString('latin1', 0, 18) === '{"type":"attached"') resolve();
      else throw new Error(payload.toString());
    };
    const socket = openSocket(
      { port },
      {
        refused: (reply) => reject(new Error(reply)),
        opened() {
          if (attach === undefined) resolve();
          else socket.write(textFrame(JSON.stringify({ type: 'attach', ...attach })));
        },
        frame: (buffer, { opcode, begin, end }) => take(opcode, buffer.subarray(begin, end)),
      },
    );
    socket.on('error', reject);
    // Ends the process, which the bench notices.
    socket.on('close', () => {
      throw new Error('a socket was closed by the server');
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
