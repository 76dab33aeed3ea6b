import { challengeHeader } from '../../protocol/challenge.ts';
import {
  createReply,
  createRequest,
  type CreateReply,
  type CreateRequest,
  traceparentHeader,
} from '../../protocol/create.ts';
import { createIdempotencyHeader } from '../../protocol/idempotency-header.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import type { Services } from '../services.ts';
import { addressScope } from '../steps/rate-limit.ts';

type CreateServices = Pick<Services, 'core' | 'identity' | 'createSession'>;

/** Codes that a create may be refused with, whatever the provider and whichever path it comes by. */
export const createRefusals: Route['refusals'] = [
  'INVALID_WIDGET_KEY',
  'KEY_PAUSED',
  'SERVICE_STOPPED',
  'AUTH_REQUIRED',
  'FORBIDDEN',
  'ORIGIN_MISMATCH',
  'BOT_BLOCKED',
  'RATE_LIMIT_EXCEEDED',
  'DAILY_QUOTA_EXCEEDED',
  'MAX_CONCURRENT_SESSIONS',
  'IDEMPOTENCY_MISMATCH',
  'SERVICE_UNAVAILABLE',
];

/** POST /api/session (docs/contract.md, section 5.1). */
export function createSessionRoute(services: CreateServices): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/session',
    operationId: 'createSession',
    summary: 'Create a real-time voice session',
    description:
      'Widget callers send widgetKey from the origin that the key is bound to; console callers send their cookie. All other fields are optional if the key or the agent supplies them.',
    tag: 'Voice sessions',
    access: 'console',
    cors: 'widgets',
    body: createRequest,
    headers: createIdempotencyHeader.extend({ ...challengeHeader.shape, ...traceparentHeader.shape }),
    bodyExample: { widgetKey: 'w_acme_site_4f1c0e8b7d2a49c3b6e5f0a1d2c3b4e5', agentId: 'support' },
    replies: {
      200: { description: 'The session and its client secret', schema: createReply, example: exampleReply },
    },
    refusals: [...createRefusals, 'RESUME_REFUSED', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'],
    credentials: ['none', 'cookie'],
    proves: (body) => body.widgetKey !== undefined && !services.core.config.requireAuthForSession,
    handle: (call) => create(call, services),
  });
}

const exampleReply: CreateReply = {
  id: 'sess_C9CwUVUzUzYIssh3ELY1d',
  sm_session_id: sample.sm_session_id,
  client_secret: { value: 'ek_68af296e8e408191a1120ab6383263c2', expires_at: 1_893_499_260 },
  heartbeat: sample.heartbeat,
  limits: sample.limits,
  call: { mode: 'direct', url: 'https://api.openai.com/v1/realtime/calls', dataChannel: 'open' },
  agent: { captions: false, greets: true, push: false, tellAi: true },
};

async function create(
  call: Call<CreateRequest>,
  { createSession, identity: { logins } }: CreateServices,
): Promise<Result> {
  const { body, login, isService, origin, ip, request, limit: window } = call;
  const reply = await createSession({
    body,
    login,
    isService,
    origin,
    ip,
    addressScope: addressScope(ip),
    window,
    request,
  });
  if (!(reply instanceof Refusal)) return { status: 200, body: reply };
  const isOwnDay = reply.code === 'DAILY_QUOTA_EXCEEDED' && reply.additions.budget === undefined;
  if (!isOwnDay || body.widgetKey !== undefined || login === undefined) return reply;
  await logins.destroy(login.id, 'violation', request.atMs, request.requestId);
  return { refusal: reply, cookie: { kind: 'clear' } };
}
