// Fastify 5 with schemas for body and reply, and a handler that only returns a constant.
import fastify from 'fastify';
import { schema } from './fastify-schema.mjs';

const at = new Date().toISOString();
const reply = { ok: true, session: { active: true, startedAt: at, lastSeenAt: at, durationSec: 0, idleSec: 0 } };

const app = fastify({ logger: false });
app.post('/api/realtime/heartbeat', { schema }, () => reply);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
