// @ts-check
/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin */
/**
 * PGlite in a thread of its own, so that its synchronous work never stops the event loop. Plain JavaScript: the same file runs from
 * the sources and beside the bundle.
 *
 * In: `{ open: id }` starts a session and ends the one before; `{ id, bytes }` are protocol messages of a session; `'close'`.
 * Out: `'ready'` once; `{ id, bytes }` replies. Any fault ends the thread.
 */
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

// PGlite's code is 9 MB. Left alone, V8 checks all of it at the start and optimises much of it during the first queries, on all cores,
// which slows them and leaves some 70 MB behind; checking what is used, and optimising only what stays hot, in one thread, ends at the
// same speed. The budget is in bytes run of one function: the parser, in a single giant one, spends half a billion within seconds.
setFlagsFromString('--wasm-lazy-validation');
setFlagsFromString('--wasm-tiering-budget=2000000000');
setFlagsFromString('--wasm-num-compilation-tasks=1');

/** 16 MB instead of 128 MB: the data is small and the process must be, too. */
const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];

/** @param {string} text a statement, as a message of the simple query protocol */
function query(text) {
  const bytes = Buffer.from(`Q0000${text}\0`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

const ERROR_RESPONSE = 0x45;
/** The severity in an ErrorResponse, in no language but this. */
const PANIC = 'VPANIC\0';

const sync = Buffer.from([0x53, 0, 0, 0, 4]);

/** Leaves nothing of the session before: no half extended query, no transaction, no settings, statements or advisory locks. */
const reset = Buffer.concat([sync, query('rollback'), query('discard all')]);

if (!parentPort) {
  throw new Error('this file is the entry of a worker thread');
}
const port = parentPort;
const database = await PGlite.create({ dataDir: workerData.directory, startParams });
let session = 0;
let work = Promise.resolve();

/**
 * Ends the thread as soon as PostgreSQL panics: the rest of what it was sent may never return.
 * @param {Uint8Array} bytes
 * @param {(reply: Uint8Array) => void} [tell] is given the whole reply, or what there was of it before the end
 */
async function execute(bytes, tell) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  await database.execProtocolRawStream(bytes, {
    onRawData(chunk) {
      chunks.push(chunk.slice());
      if (!Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).includes(PANIC)) return;
      const reply = Buffer.concat(chunks);
      if (!hasPanicked(reply)) return;
      tell?.(reply);
      process.exit(1);
    },
  });
  tell?.(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
}

/** @param {number} id @param {Uint8Array} bytes */
async function answer(id, bytes) {
  if (id !== session) {
    return;
  }
  await execute(bytes, (reply) => port.postMessage({ id, bytes: reply }));
}

/**
 * Whether a reply tells of a PANIC, as when the write-ahead log finds no room. A server ends all its processes then, and recovers; PGlite
 * goes on with a state that is broken, and its next message never returns.
 * @param {Buffer} reply protocol messages
 */
function hasPanicked(reply) {
  for (let at = 0; at + 5 <= reply.length; at += 1 + reply.readInt32BE(at + 1)) {
    if (reply[at] !== ERROR_RESPONSE) continue;
    if (reply.subarray(at, at + 1 + reply.readInt32BE(at + 1)).includes(PANIC)) return true;
  }
  return false;
}

port.on('message', (message) => {
  if (message === 'close') {
    work = work.then(() => database.close()).then(() => port.close());
  } else if ('open' in message) {
    session = message.open;
    work = work.then(() => execute(reset));
  } else {
    work = work.then(() => answer(message.id, message.bytes));
  }
});
port.postMessage('ready');
