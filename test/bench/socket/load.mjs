// The load generator: sockets in a closed loop, each sending the same heartbeat again as soon as its answer has come.
// Prints one JSON line.
import { readFileSync } from 'node:fs';
import { cpuSeconds } from '../support/cpu.mjs';
import { dialects } from './dialects.mjs';
import { openSocket } from './frames.mjs';

const { port, pid, sockets, seconds, warmUpSeconds, sessions, dialect } = JSON.parse(readFileSync(0, 'utf8'));
const { heartbeat, answer, greetings, welcomes, pings, path, protocol } = dialects[dialect];
const topUs = 1_000_000;

const histogramUs = new Uint32Array(topUs + 1);
let answered = 0;
let failed = 0;
let firstFailure;
let stopping = false;

function note(message) {
  failed += 1;
  firstFailure ??= message;
}

/** Opens one socket; resolves when the first heartbeat may be sent. */
function open(session) {
  return new Promise((resolve) => {
    let awaited = welcomes(session);
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(heartbeat);
    };
    const take = (buffer, { begin, end }) => {
      if (awaited > 0) {
        awaited -= 1;
        return awaited === 0 && resolve(send);
      }
      if (buffer.compare(answer, 0, answer.length, begin, begin + answer.length) !== 0) {
        const text = buffer.toString('utf8', begin, end);
        return text === pings?.ping ? socket.write(pings.pong) : note(text);
      }
      answered += 1;
      histogramUs[Math.min(topUs, Math.round((performance.now() - sentAt) * 1000))] += 1;
      if (!stopping) send();
    };
    const socket = openSocket(
      { port, path, protocol },
      {
        refused: note,
        opened() {
          for (const greeting of greetings(session)) socket.write(greeting);
          if (awaited === 0) resolve(send);
        },
        frame: (buffer, frame) => frame.opcode === 1 && take(buffer, frame),
      },
    );
    socket.on('error', () => {});
    socket.on('close', () => stopping || note('closed'));
  });
}

function quantileUs(share) {
  let left = Math.ceil(answered * share);
  for (let us = 0; us <= topUs; us += 1) {
    left -= histogramUs[us];
    if (left <= 0) return us;
  }
  return topUs;
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
for (const send of await Promise.all(Array.from({ length: sockets }, (_, index) => open(sessions?.[index])))) send();
await wait(warmUpSeconds * 1000);
answered = 0;
histogramUs.fill(0);
const cpuBefore = cpuSeconds(pid);
const startedAt = performance.now();
await wait(seconds * 1000);
const elapsed = (performance.now() - startedAt) / 1000;
const cpu = cpuSeconds(pid) - cpuBefore;
stopping = true;
const result = {
  perSecond: answered / elapsed,
  cpuUs: (cpu * 1e6) / answered,
  serverBusy: cpu / elapsed,
  p50Us: quantileUs(0.5),
  p99Us: quantileUs(0.99),
  failed,
  firstFailure,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
