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

/** A heartbeat and its reply, for Fastify's validation and JSON serialization. */
export const schema = {
  body: {
    type: 'object',
    required: ['sm_session_id'],
    properties: { sm_session_id: string, email: string, idleSec: integer },
  },
  response: { 200: { type: 'object', properties: { ok: { type: 'boolean' }, session } } },
};
