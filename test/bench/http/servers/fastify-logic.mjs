// Fastify 5 with the heartbeat's logic in memory: address window, CORS, the session's proof and times, and the reply's ten headers.
import { createHash } from 'node:crypto';
import fastify from 'fastify';
import { schema } from './fastify-schema.mjs';

const WINDOW_MS = 60_000;
const LIMIT = 1_000_000_000;
const now = Date.now();
const known = new Map([[process.argv[2], { startedAt: now, lastSeenAt: now, lastActivityAt: now }]]);
const windows = new Map();
const origins = new Set(['http://localhost:3000']);

function count(ip, at) {
  const begin = at - (at % WINDOW_MS);
  let window = windows.get(ip);
  if (window?.begin !== begin) windows.set(ip, (window = { begin, count: 0, before: window?.count ?? 0 }));
  window.count += 1;
  return { remaining: LIMIT - window.count, resetAt: (begin + WINDOW_MS) / 1000 };
}

let ids = 0;
const prefix = createHash('sha256').update(String(now)).digest('base64url').slice(0, 6);
const app = fastify({ logger: false, genReqId: () => `req_${prefix}${(ids += 1).toString(36)}` });
app.addHook('onRequest', async (request, reply) => {
  const { remaining, resetAt } = count(request.ip, Date.now());
  const { origin } = request.headers;
  reply.headers({
    'X-Request-Id': request.id,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Vary: 'Origin',
    'X-RateLimit-Limit': LIMIT,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': resetAt,
  });
  if (!origins.has(origin)) return;
  reply.headers({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers':
      'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location',
  });
});
app.post('/api/realtime/heartbeat', { schema }, async ({ body }, reply) => {
  const record = known.get(body.sm_session_id);
  if (record === undefined) return reply.code(404).send({ error: 'not found' });
  const at = Date.now();
  record.lastSeenAt = at;
  record.lastActivityAt = at - (body.idleSec ?? 0) * 1000;
  return {
    ok: true,
    session: {
      active: true,
      startedAt: new Date(record.startedAt).toISOString(),
      lastSeenAt: new Date(at).toISOString(),
      durationSec: Math.floor((at - record.startedAt) / 1000),
      idleSec: Math.floor((at - record.lastActivityAt) / 1000),
    },
  };
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
