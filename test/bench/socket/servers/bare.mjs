// The yardstick: uWebSockets.js alone. `echo` parses and sends the same JSON back, `answer` looks a session up and answers
// with as many bytes as the product does.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const answers = process.argv[2] === 'answer';

function load() {
  const names = ['22', '24', '26'].includes(process.versions.node.split('.')[0])
    ? ['uws-current', 'uws-compatible']
    : ['uws-compatible'];
  for (const name of names) {
    try {
      return require(name);
    } catch {
      // the other one, then
    }
  }
  throw new Error('no uWebSockets.js for this Node and C library');
}

const uws = load();
const at = new Date().toISOString();
const sessions = new Map([['s', { active: true, startedAt: at, lastSeenAt: at, durationSec: 0, idleSec: 0 }]]);

uws
  .App()
  .ws('/api/realtime/socket', {
    maxPayloadLength: 4096,
    idleTimeout: 60,
    message(ws, data) {
      const frame = JSON.parse(Buffer.from(data).toString());
      if (!answers || frame.type !== 'heartbeat') ws.send(JSON.stringify(frame));
      else ws.send(JSON.stringify({ type: 'heartbeat', id: frame.id, session: sessions.get('s'), state: 'engaged' }));
    },
  })
  .listen('127.0.0.1', 0, (socket) => {
    console.log(`http://127.0.0.1:${uws.us_socket_local_port(socket)}`);
  });
