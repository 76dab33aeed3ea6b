// The bytes of the requests that servers get.
import { createSessions } from '../switchboard.mjs';

export const headerSets = {
  minimal: [],
  browser: [
    'Connection: keep-alive',
    'sec-ch-ua-platform: "Linux"',
    'User-Agent: Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
    'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"',
    'sec-ch-ua-mobile: ?0',
    'Accept: */*',
    'Sec-Fetch-Site: cross-site',
    'Sec-Fetch-Mode: cors',
    'Sec-Fetch-Dest: empty',
    'Referer: http://localhost:3000/',
    'Accept-Encoding: gzip, deflate, br, zstd',
    'Accept-Language: en-GB,en;q=0.9',
  ],
};

/** As many as a usual run has connections: with shared stores, heartbeats of one session would only wait for each other. */
const SESSIONS = 64;

/** A whole request as bytes in latin1. @param headers header lines besides the usual ones */
export function postRequest(port, path, origin, body, headers = []) {
  const text = JSON.stringify(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Origin: ${origin}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

export function heartbeatRequest(port, session, origin, headers = []) {
  return postRequest(port, '/api/realtime/heartbeat', origin, { sm_session_id: session }, headers);
}

/** Creates sessions on the product. @returns their heartbeat requests */
export async function heartbeatsOf({ port }, headers = []) {
  const sessions = await createSessions(port, SESSIONS);
  return sessions.map((id) => heartbeatRequest(port, id, `http://localhost:${port}`, headers));
}
