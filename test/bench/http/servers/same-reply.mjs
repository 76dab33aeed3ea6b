// The fair yardstick: uWebSockets.js that does what any server must do to send the same reply as ours (docs/goals.md, P1): walks the
// headers, asks for the address, writes the same ten headers and a body of the same text. It has no logic.
import { loadUws } from '../../support/uws.mjs';

const uws = loadUws();
const sessions = new Map([[process.argv[2], { startedAt: new Date().toISOString() }]]);
const origin = 'http://localhost:3000';
let requests = 0;

function refuse(res) {
  res.writeStatus('404 Not Found').end('{}');
}

function beat(res, headers, body) {
  const session = sessions.get(JSON.parse(body).sm_session_id);
  if (session === undefined) {
    refuse(res);
    return;
  }
  requests += 1;
  const { startedAt } = session;
  res.writeStatus(
    `200 OK\r\nX-Request-Id: req_cEiGKsR${requests.toString(36)}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nVary: Origin` +
      `\r\nAccess-Control-Allow-Origin: ${headers.origin}\r\nAccess-Control-Allow-Credentials: true\r\nAccess-Control-Expose-Headers: X-Request-Id, ` +
      'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location\r\nX-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: ' +
      `${requests % 60}\r\nX-RateLimit-Reset: 1795378980\r\nContent-Type: application/json; charset=utf-8`,
  );
  res.end(
    `{"ok":true,"session":{"active":true,"startedAt":"${startedAt}","lastSeenAt":"${startedAt}","durationSec":0,"idleSec":0}}`,
  );
}

uws
  .App()
  .any('/*', (res, req) => {
    const headers = {};
    req.forEach((name, value) => {
      headers[name] = value;
    });
    const method = req.getCaseSensitiveMethod();
    const path = req.getUrl();
    const address = new DataView(res.getRemoteAddress());
    let aborted =
      method !== 'POST' || path !== '/api/realtime/heartbeat' || address.byteLength === 0 || headers.origin !== origin;
    res.onAborted(() => {
      aborted = true;
    });
    if (aborted) {
      refuse(res);
      return;
    }
    res.onData((chunk, isLast) => {
      if (isLast && !aborted) beat(res, headers, Buffer.from(chunk).toString());
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    console.log(`http://127.0.0.1:${uws.us_socket_local_port(socket)}`);
  });
