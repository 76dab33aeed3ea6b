// The load generator: a closed loop of keep-alive connections in a process of its own, each sending the same bytes
// again as soon as its answer is whole. Prints one JSON line. It parses as little as counting correctly allows.
import { readFileSync } from 'node:fs';
import net from 'node:net';

const { port, connections, seconds, file } = JSON.parse(process.argv[2]);
/** Connections take turns: each has one of the requests and sends nothing else. */
const messages = readFileSync(file, 'latin1')
  .split('\0')
  .map((request) => Buffer.from(request, 'latin1'));
const topUs = 1_000_000;

const histogramUs = new Uint32Array(topUs + 1);
let answered = 0;
let failed = 0;
let firstFailure;
let reconnects = 0;
let stopping = false;

/** The length of the answer that starts the buffer, or 0 while its head is not whole. */
function answerLength(buffer) {
  const headEnd = buffer.indexOf('\r\n\r\n');
  if (headEnd < 0) return 0;
  const head = buffer.latin1Slice(0, headEnd);
  const length = /\r\ncontent-length: (\d+)/i.exec(head);
  if (length === null) throw new Error(`an answer without Content-Length: ${head}`);
  if (!head.startsWith('HTTP/1.1 200 ')) {
    failed += 1;
    firstFailure ??= buffer.latin1Slice(0, 600);
  }
  return headEnd + 4 + Number(length[1]);
}

const ok = Buffer.from('HTTP/1.1 200 ');

/** True when the chunk is one whole 200 answer; `expected` is the length that the last parsed answer had. */
function looksWhole(buffer, size, expected) {
  return size === expected && buffer.compare(ok, 0, ok.length, 0, ok.length) === 0;
}

let opened = 0;

function open() {
  const bytes = messages[opened % messages.length];
  opened += 1;
  let sentAt = 0;
  let expected = -1;
  let rest;
  const send = () => {
    sentAt = performance.now();
    socket.write(bytes);
  };
  const count = () => {
    answered += 1;
    histogramUs[Math.min(topUs, Math.round((performance.now() - sentAt) * 1000))] += 1;
    if (!stopping) send();
  };
  const slow = (chunk) => {
    rest = rest === undefined ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const whole = answerLength(rest);
    if (whole === 0 || rest.length < whole) return;
    expected = whole;
    rest = undefined;
    count();
  };
  const socket = net.connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(16_384),
      callback(size, buffer) {
        // Equal length is taken as an equal answer; its body is checked for being one by the parsed answers around it.
        if (rest === undefined && looksWhole(buffer, size, expected)) count();
        else slow(buffer.subarray(0, size));
        return true;
      },
    },
  });
  socket.on('connect', send);
  socket.on('error', () => {});
  socket.on('close', () => {
    if (stopping) return;
    reconnects += 1;
    open();
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

for (let i = 0; i < connections; i += 1) open();
const startedAt = performance.now();
setTimeout(() => {
  stopping = true;
  const result = {
    answered,
    seconds: (performance.now() - startedAt) / 1000,
    p50Us: quantileUs(0.5),
    p99Us: quantileUs(0.99),
    failed: failed + reconnects,
    firstFailure,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, seconds * 1000);
