// Holds sockets in one process: attaches each to a session and sends heartbeats on it for ever. Prints its counts every second.
import { readFileSync } from 'node:fs';
import { openSocket, pongFrame, textFrame } from '../../bench/support/load/frames.mjs';

const { port, localAddress, sessions, intervalSec } = JSON.parse(readFileSync(0, 'utf8'));
const heartbeat = textFrame('{"type":"heartbeat","idleSec":0,"id":1}');
const counts = { attached: 0, beats: 0, answers: 0, lost: 0, unanswered: 0, refused: 0, p99Ms: 0, first: undefined };
const sockets = [];
let latenciesMs = [];

function note(what) {
  counts.first ??= what;
}

/** Resolves when the socket is attached, or has failed to. Without a session (on a bare server) it resolves when the socket is open. */
function open(session) {
  return new Promise((resolve) => {
    const one = { socket: undefined, sentAt: 0 };
    const attached = () => {
      counts.attached += 1;
      sockets.push(one);
      resolve();
    };
    const take = (payload) => {
      if (payload.startsWith('{"type":"heartbeat"')) {
        counts.answers += 1;
        latenciesMs.push(performance.now() - one.sentAt);
        one.sentAt = 0;
      } else if (payload.startsWith('{"type":"attached"')) attached();
      else {
        counts.refused += 1;
        note(payload);
      }
    };
    const socket = openSocket(
      { port, localAddress },
      {
        refused: note,
        opened() {
          if (session === undefined) attached();
          else socket.write(textFrame(JSON.stringify({ type: 'attach', sm_session_id: session })));
        },
        frame(buffer, { opcode, begin, end }) {
          const payload = buffer.subarray(begin, end);
          if (opcode === 9) socket.write(pongFrame(payload));
          else if (opcode === 1) take(payload.toString('latin1'));
          else if (opcode === 8) note(`closed with ${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`);
        },
      },
    );
    one.socket = socket;
    socket.on('error', (error) => note(error.message));
    socket.on('close', () => {
      counts.lost += 1;
      note('closed by the server');
      resolve();
    });
  });
}

function beat(one) {
  if (one.socket.destroyed) return;
  if (one.sentAt !== 0) counts.unanswered += 1;
  one.sentAt = performance.now();
  counts.beats += 1;
  one.socket.write(heartbeat);
}

setInterval(() => {
  latenciesMs.sort((a, b) => a - b);
  counts.p99Ms = latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? 0;
  latenciesMs = [];
  process.stdout.write(`${JSON.stringify({ ...counts, held: counts.attached - counts.lost })}\n`);
}, 1000);

for (let from = 0; from < sessions.length; from += 50)
  await Promise.all(sessions.slice(from, from + 50).map((session) => open(session ?? undefined)));

// Spreads heartbeats evenly over the interval: every 20 ms a timer sends those that are due.
let sent = 0;
const startedAt = performance.now();
setInterval(() => {
  const due = Math.floor(((performance.now() - startedAt) / (intervalSec * 1000)) * sockets.length);
  for (; sent < due; sent += 1) beat(sockets[sent % sockets.length]);
}, 20);
