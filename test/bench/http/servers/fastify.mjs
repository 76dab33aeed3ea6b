// Fastify 5 with schemas for body and reply and a handler that does nothing but return a constant.
import fastify from 'fastify';

const string = { type: 'string' };
const integer = { type: 'integer' };
const session = {
  type: 'object',
  properties: {
    active: { type: 'boolean' },
    startedAt: string,
    lastSeenAt: string,
    durationSec: integer,
    idleSec: integer,
  },
};
const at = new Date().toISOString();
const reply = { ok: true, session: { active: true, startedAt: at, lastSeenAt: at, durationSec: 0, idleSec: 0 } };

const app = fastify({ logger: false });
app.post(
  '/api/realtime/heartbeat',
  {
    schema: {
      body: { type: 'object', required: ['sm_session_id'], properties: { sm_session_id: string, email: string } },
      response: { 200: { type: 'object', properties: { ok: { type: 'boolean' }, session } } },
    },
  },
  () => reply,
);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
