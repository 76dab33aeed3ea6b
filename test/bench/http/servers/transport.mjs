// Our transport with the bare server's handler, to measure what the transport alone costs.
import { rolldown } from 'rolldown';

const root = `${import.meta.dirname}/../../../..`;
// Inside node_modules, so that the bundle can resolve uWebSockets.js.
const file = `${root}/node_modules/.cache/switchboard-bench/transport.mjs`;
const bundle = await rolldown({
  input: `${root}/src/transport/server.ts`,
  platform: 'node',
  external: ['uws-current', 'uws-compatible'],
});
await bundle.write({ file, format: 'esm' });
await bundle.close();
const { listen } = await import(file);

const sessions = new Map();
const at = new Date().toISOString();
sessions.set(process.argv[2], { active: true, startedAt: at, lastSeenAt: at, durationSec: 0, idleSec: 0 });
const headers = [['Content-Type', 'application/json']];

const { port } = await listen({
  host: '127.0.0.1',
  port: 0,
  replyDeadlineMs: 5000,
  handle(request) {
    const session = sessions.get(JSON.parse(request.body.toString()).sm_session_id);
    if (session === undefined) return { status: 404, headers, body: '{}' };
    return { status: 200, headers, body: JSON.stringify({ ok: true, session }) };
  },
  onFault: (error) => {
    throw error;
  },
});
console.log(`http://127.0.0.1:${port}`);
