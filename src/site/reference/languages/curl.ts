import type { ExampleRequest } from '../request.ts';

const credentials = {
  none: [],
  cookie: ['--cookie "tenant_session=$TENANT_SESSION"'],
  service: ['-H "Authorization: Bearer $SWITCHBOARD_TOKEN"'],
  ticket: ['-H "Authorization: Bearer $CLIENT_SECRET"'],
} as const;

/** A command to paste into a shell. */
export function curl({ method, url, credential, origin, body, socket }: ExampleRequest): string {
  return [
    `curl ${quote(url.replace(/^ws/, 'http'))}`,
    ...(method !== 'GET' && (method !== 'POST' || body === undefined) ? [`-X ${method}`] : []),
    ...(socket === undefined ? [] : upgrade(socket.subprotocol)),
    ...(origin === undefined ? [] : [`-H ${quote(`Origin: ${origin}`)}`]),
    ...credentials[credential],
    ...(body === undefined ? [] : [`-H ${quote(`Content-Type: ${body.type}`)}`, data(body.value)]),
  ].join(' \\\n  ');
}

/** Prints what arrives, and sends nothing. */
function upgrade(subprotocol: string): string[] {
  return [
    '--include --no-buffer --http1.1',
    "-H 'Connection: Upgrade' -H 'Upgrade: websocket'",
    "-H 'Sec-WebSocket-Version: 13'",
    '-H "Sec-WebSocket-Key: $(openssl rand -base64 16)"',
    `-H 'Sec-WebSocket-Protocol: ${subprotocol}'`,
  ];
}

function data(value: unknown): string {
  if (typeof value !== 'string') return `-d ${quote(JSON.stringify(value, null, 2))}`;
  // SDP has CRLF line ends, which only this kind of quoting can express.
  return `--data-binary $'${value.replaceAll('\r\n', String.raw`\r\n`)}'`;
}

function quote(text: string): string {
  return /^[\w/:.%@=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
