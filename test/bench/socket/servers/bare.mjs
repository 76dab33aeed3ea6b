// The yardstick: uWebSockets.js alone. `echo` parses JSON and sends it back; `answer` looks up a session and answers
// with as many bytes as the product does.
import { loadUws } from '../../support/uws.mjs';

const answers = process.argv[2] === 'answer';
const uws = loadUws();
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
