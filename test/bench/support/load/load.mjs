// Does what load.c does, for machines without a compiler. It needs two or three times the CPU, so it cannot keep a fast server busy.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { cpuSeconds, loopCpuSeconds } from '../cpu.mjs';
import { frameAt, pongFrame, textFrame } from './frames.mjs';

const options = Object.fromEntries(process.argv.slice(2).map((text) => text.split(/=(.*)/s, 2)));
const [port, pid, count] = [options.port, options.pid, options.connections].map(Number);
const rate = Number(options.rate);
const TOP_US = 1_000_000;

const histogramUs = new Uint32Array(TOP_US + 1);
let answered = 0;
let failed = 0;
let firstFailure = '';
let turns = 0;

const textsOf = (file) => (file === '' ? [] : readFileSync(file, 'latin1').split('\0'));
const requests = textsOf(options.requests).map((text) => Buffer.from(text, 'latin1'));
const greetings = textsOf(options.greetings).map(textFrame);
const [beat, answer] = [textFrame(options.beat), Buffer.from(options.answer)];

function fail(what) {
  failed += 1;
  if (firstFailure === '') firstFailure = what.slice(0, 600);
}

/** An HTTP connection or a socket; `ready` resolves once it may send. */
class Connection {
  #socket;
  #number;
  #since = 0;
  #isWaiting = false;
  #due = [];
  #welcomes = Number(options.welcomes);
  #isUpgraded = options.beat === '';
  #becomeReady = () => undefined;
  ready = new Promise((resolve) => {
    this.#becomeReady = resolve;
  });

  constructor(number) {
    this.#number = number;
    const localAddress = options.ownAddresses === '1' ? `127.1.${number >> 8}.${(number & 255) + 1}` : undefined;
    this.#socket = net.connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
    let rest = Buffer.alloc(0);
    this.#socket.on('connect', () => (this.#isUpgraded ? this.#becomeReady() : this.#socket.write(options.upgrade)));
    this.#socket.on('data', (chunk) => {
      let left = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let size = this.#take(left); size > 0; size = this.#take(left)) left = left.subarray(size);
      rest = left;
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => fail('a connection was closed'));
  }

  /** @param since when its turn came */
  send(since) {
    if (this.#isWaiting) {
      this.#due.push(since);
      return;
    }
    this.#isWaiting = true;
    this.#since = since;
    this.#socket.write(requests.length === 0 ? beat : requests[turns++ % requests.length]);
  }

  #answered() {
    const now = performance.now();
    answered += 1;
    histogramUs[Math.min(TOP_US, Math.round((now - this.#since) * 1000))] += 1;
    this.#isWaiting = false;
    if (rate === 0) this.send(now);
    else if (this.#due.length > 0) this.send(this.#due.shift());
  }

  /** @returns the bytes of the first message, 0 while it is incomplete */
  #take(buffer) {
    if (this.#isUpgraded && options.beat !== '') return this.#takeFrame(buffer);
    const end = buffer.indexOf('\r\n\r\n') + 4;
    if (end < 4) return 0;
    const head = buffer.latin1Slice(0, end);
    return this.#isUpgraded ? this.#takeReply(buffer, head) : this.#takeUpgrade(head);
  }

  #takeUpgrade(head) {
    if (!head.startsWith('HTTP/1.1 101 ')) fail(head);
    this.#isUpgraded = true;
    if (greetings.length > 0) this.#socket.write(greetings[this.#number % greetings.length]);
    if (this.#welcomes === 0) this.#becomeReady();
    return head.length;
  }

  #takeReply(buffer, head) {
    const whole = head.length + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (buffer.length < whole) return 0;
    if (!head.startsWith('HTTP/1.1 200 ')) fail(buffer.latin1Slice(0, whole));
    this.#answered();
    return whole;
  }

  #takeFrame(buffer) {
    const frame = frameAt(buffer, 0, buffer.length);
    if (frame === undefined) return 0;
    const payload = buffer.subarray(frame.begin, frame.end);
    if (frame.opcode === 9) this.#socket.write(pongFrame(payload));
    else if (frame.opcode === 1) this.#takeText(payload);
    return frame.end;
  }

  #takeText(payload) {
    if (this.#welcomes > 0) {
      this.#welcomes -= 1;
      if (this.#welcomes === 0) this.#becomeReady();
    } else if (payload.subarray(0, answer.length).equals(answer)) this.#answered();
    else if (payload.toString() === options.ping) this.#socket.write(textFrame(options.pong));
    else fail(payload.toString());
  }
}

/** Sends on each connection when its turn has come. */
function startTurns(connections) {
  let next = performance.now();
  let n = 0;
  setInterval(() => {
    for (const now = performance.now(); next <= now; next += 1000 / rate) connections[n++ % count].send(next);
  }, 1);
}

function quantileUs(share) {
  let left = answered * share;
  for (let us = 0; us <= TOP_US; us += 1) {
    left -= histogramUs[us];
    if (left <= 0) return us;
  }
  return TOP_US;
}

const wait = (seconds) => new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
const connections = Array.from({ length: count }, (_, number) => new Connection(number));
await Promise.all(connections.map(({ ready }) => ready));
if (rate > 0) startTurns(connections);
else for (const connection of connections) connection.send(performance.now());
await wait(options.warmUp);
const answeredBefore = answered;
answered = 0;
histogramUs.fill(0);
const read = () => [performance.now() / 1000, cpuSeconds(pid), loopCpuSeconds(pid), cpuSeconds(process.pid)];
const before = read();
await wait(options.seconds);
const [seconds, cpu, loop, loadCpu] = read().map((value, n) => value - before[n]);
const latencies = { p50Us: quantileUs(0.5), p99Us: quantileUs(0.99), p999Us: quantileUs(0.999) };
const result = { answered, answeredInAll: answeredBefore + answered, seconds, cpu, loop, loadCpu, ...latencies };
process.stdout.write(`${JSON.stringify({ ...result, failed, firstFailure })}\n`, () => process.exit(0));
