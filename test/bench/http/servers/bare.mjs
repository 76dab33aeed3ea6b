// The yardstick: uWebSockets.js alone, doing the least that a heartbeat needs: collect, parse, look up, answer JSON.
import { loadUws } from '../../support/uws.mjs';

const uws = loadUws();
const sessions = new Map();
const at = new Date().toISOString();
sessions.set(process.argv[2], { active: true, startedAt: at, lastSeenAt: at, durationSec: 0, idleSec: 0 });

function beat(res, body) {
  const session = sessions.get(JSON.parse(body.toString()).sm_session_id);
  if (session === undefined) res.writeStatus('404 Not Found').end('{}');
  else res.writeHeader('Content-Type', 'application/json').end(JSON.stringify({ ok: true, session }));
}

uws
  .App()
  .post('/api/realtime/heartbeat', (res) => {
    let collected;
    let aborted = false;
    res.onAborted(() => {
      aborted = true;
    });
    res.onData((chunk, isLast) => {
      if (aborted) return;
      const part = Buffer.from(chunk);
      if (isLast && collected === undefined) beat(res, part);
      else if (isLast) beat(res, Buffer.concat([collected, part]));
      else collected = collected === undefined ? Buffer.from(part) : Buffer.concat([collected, part]);
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    console.log(`http://127.0.0.1:${uws.us_socket_local_port(socket)}`);
  });
