import type { ExampleRequest } from '../request.ts';

/** Code for a page or Node 22. */
export function javaScript(request: ExampleRequest): string {
  return request.socket === undefined ? fetchOf(request) : socketOf(request, request.socket);
}

function fetchOf(request: ExampleRequest): string {
  const { url, answersJson } = request;
  const options = optionsOf(request);
  const call = options === '' ? `fetch('${url}')` : `fetch('${url}', ${options})`;
  const secret = secrets[request.credential];
  const read = answersJson
    ? [
        'const reply = await response.json();',
        'if (!response.ok) throw new Error(reply.userMessage);',
        'console.log(reply);',
      ]
    : [
        'if (!response.ok) throw new Error((await response.json()).userMessage);',
        'console.log(await response.text());',
      ];
  return [...(secret === undefined ? [] : [secret]), `const response = await ${call};`, ...read].join('\n');
}

const secrets = {
  none: undefined,
  cookie: undefined,
  service: "const token = '…'; // one of SERVICE_TOKENS, on a server of yours",
  ticket: "const clientSecret = 'ek_…'; // client_secret.value of the create",
} as const;

const authorization = {
  none: undefined,
  cookie: undefined,
  service: '`Bearer ${token}`',
  ticket: '`Bearer ${clientSecret}`',
} as const;

function optionsOf({ method, credential, body }: ExampleRequest): string {
  const bearer = authorization[credential];
  const headers = [
    ...(bearer === undefined ? [] : [`Authorization: ${bearer}`]),
    ...(body === undefined ? [] : [`'Content-Type': '${body.type}'`]),
  ];
  const lines = [
    ...(method === 'POST' ? ["method: 'POST'"] : []),
    ...(credential === 'cookie' ? ["credentials: 'include'"] : []),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: ${textOf(body.value)}`]),
  ];
  return lines.length === 0 ? '' : `{\n${lines.map((line) => `  ${line},\n`).join('')}}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : `JSON.stringify(${literal(value)})`;
}

/** JSON as people write it in code. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replaceAll(/^(\s*)"(\w+)":/gm, '$1$2:')
    .replaceAll('\n', '\n  ');
}

function socketOf(
  { url, credential }: ExampleRequest,
  { subprotocol, frame }: NonNullable<ExampleRequest['socket']>,
): string {
  const who = credential === 'service' ? ['// On a page of the console: its cookie comes along.'] : [];
  return [
    ...who,
    `const socket = new WebSocket('${url}', '${subprotocol}');`,
    `socket.onopen = () => socket.send(JSON.stringify(${literal(frame)}));`,
    'socket.onmessage = ({ data }) => console.log(JSON.parse(data));',
    'socket.onclose = ({ code }) => console.log(code);',
  ].join('\n');
}

const connect = (baseUrl: string): string[] => [
  `import { connect } from '${baseUrl}/widget.mjs';`,
  '',
  "const session = await connect({ widgetKey: 'YOUR_WIDGET_KEY', audio: true });",
];

/** The SDK's counterpart of a request, by the id of the operation; see docs/widget.md. */
const instead: Readonly<Record<string, readonly string[]>> = {
  createSession: ["session.on('ended', ({ userMessage }) => console.log(userMessage));"],
  sendHeartbeat: [
    '// From now on it sends heartbeats, until it ends.',
    "session.on('state', ({ state }) => console.log(state));",
  ],
  endSession: ['await session.end();'],
  openSocket: [
    '// It holds the session over a socket, and over HTTP where sockets are blocked.',
    "session.on('warning', ({ reason, secondsLeft }) => console.log(reason, secondsLeft));",
  ],
  openCall: ['// With audio it opens the call itself.', "session.on('media', ({ state }) => console.log(state));"],
  getCallTicket: [
    '// It takes another ticket when the network has changed.',
    "session.on('media', ({ state }) => console.log(state));",
  ],
  reportUsage: ['const totals = await session.reportUsage({ tokens: 1200, dollars: 0.02 });', 'console.log(totals);'],
};

/** The same example with the SDK, where it has a counterpart. */
export function sdk(operationId: string, baseUrl: string): string | undefined {
  const lines = instead[operationId];
  return lines && [...connect(baseUrl), ...lines].join('\n');
}
