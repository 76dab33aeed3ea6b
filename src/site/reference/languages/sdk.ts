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
