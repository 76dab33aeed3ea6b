import type { UpstreamProvider } from '../../upstream/contract.ts';
import { createReply, createRequest, type CreateReply, type CreateRequest } from '../../protocol/create.ts';
import { createIdempotencyHeader } from '../../protocol/idempotency.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { SessionConfig } from '../../tenants/agents.ts';
import { invalidWidgetKey } from '../../tenants/directory.ts';
import { admit, refuseIfBot, type Admission, type AdmissionDeps } from '../../voice/admit.ts';
import { whoseOf, type AdmittedCaller } from '../../voice/allowances.ts';
import { openVoiceSession, type OpenDeps, type OpenedSession } from '../../voice/open.ts';
import { addressScope } from '../steps/limit.ts';
import { oncePerKey, type RepeatedCreateDeps } from '../repeated-create.ts';
import { defineRoute, type Answer, type Call, type Result, type Route } from '../route.ts';
import { sample } from '../samples.ts';

export interface CreateSessionDeps extends AdmissionDeps, OpenDeps, RepeatedCreateDeps {
  /** The service's own address, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly heartbeatIntervalSec: number;
  readonly provider: Pick<UpstreamProvider, 'name' | 'callUrl' | 'capabilities'>;
  readonly destroyLogin: (loginId: string, atMs: number, requestId?: string) => Promise<unknown>;
}

/** POST /api/session (docs/contract.md, section 5.1). */
export function createSessionRoute(deps: CreateSessionDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/session',
    operationId: 'createSession',
    summary: 'Create a real-time voice session',
    description:
      'Widget callers send widgetKey from the origin it is bound to; console callers send their cookie. All other fields are optional where the key or the agent supplies them.',
    tag: 'Voice sessions',
    access: 'console',
    cors: 'widgets',
    body: createRequest,
    headers: createIdempotencyHeader,
    bodyExample: { widgetKey: 'w_acme_site_4f1c0e8b7d2a49c3b6e5f0a1d2c3b4e5', agentId: 'support' },
    replies: {
      200: { description: 'The session and its client secret', schema: createReply, example: exampleReply },
    },
    refusals: [
      'INVALID_REQUEST',
      'INVALID_WIDGET_KEY',
      'KEY_PAUSED',
      'AUTH_REQUIRED',
      'FORBIDDEN',
      'ORIGIN_MISMATCH',
      'BOT_BLOCKED',
      'RATE_LIMIT_EXCEEDED',
      'DAILY_QUOTA_EXCEEDED',
      'MAX_CONCURRENT_SESSIONS',
      'IDEMPOTENCY_MISMATCH',
      'UPSTREAM_ERROR',
      'UPSTREAM_TIMEOUT',
      'SERVICE_UNAVAILABLE',
    ],
    credentials: ['none', 'cookie'],
    proves: (body) => body.widgetKey !== undefined && !deps.requireLogin,
    handle: (call) => create(call, deps),
  });
}

const exampleReply: CreateReply = {
  id: 'sess_C9CwUVUzUzYIssh3ELY1d',
  sm_session_id: sample.sm_session_id,
  client_secret: { value: 'ek_68af296e8e408191a1120ab6383263c2', expires_at: 1_893_499_260 },
  heartbeat: {
    intervalSec: 45,
    url: 'https://voice.example.com/api/realtime/heartbeat',
    socketUrl: 'wss://voice.example.com/api/realtime/socket',
  },
  limits: { maxMinutes: 15, maxIdleSec: 300 },
  call: { mode: 'direct', url: 'https://api.openai.com/v1/realtime/calls', dataChannel: 'open' },
};

async function create(call: Call<CreateRequest>, deps: CreateSessionDeps): Promise<Result> {
  await deps.directory.refreshIfLate();
  const admission = admit(call.body, call.login, call.origin, deps);
  if (admission instanceof Refusal) return admission;
  const { caller, tenantId, keyId } = admission.who;
  const by = keyId ?? call.login?.email ?? '';
  // A stranger who has learned or guessed the key comes from elsewhere, and gets a session of its own.
  const scope = [caller, tenantId, by, call.origin ?? '', addressScope(call.ip)];
  const answer = await oncePerKey(call.request, scope, deps, async () => open(call, admission, deps));
  if (!(answer instanceof Refusal)) return answer;
  const result = answer.because(whoseOf(admission.who));
  if (result.code !== 'DAILY_QUOTA_EXCEEDED') return result;
  if (caller === 'console' && call.login !== undefined) {
    await deps.destroyLogin(call.login.id, call.request.atMs, call.request.requestId);
    return { refusal: result, cookie: { kind: 'clear' } };
  }
  return result;
}

async function open(
  call: Call<CreateRequest>,
  { who, session }: Admission,
  deps: CreateSessionDeps,
): Promise<Answer | Refusal> {
  const blocked = await refuseIfBot(call.request, call.ip, deps);
  if (blocked !== undefined) return blocked;
  const opened = await openVoiceSession(who, session, call.request.requestId, call.request.signal(), deps);
  if (opened instanceof Refusal) return opened;
  return (await endIfRevoked(call, who, opened, deps)) ?? { status: 200, body: replyOf(opened, session, deps) };
}

/** A key that was revoked while the secret was minted: its sessions were ended when this one was not registered yet. */
async function endIfRevoked(
  { body, request }: Call<CreateRequest>,
  who: AdmittedCaller,
  { record }: OpenedSession,
  { directory, sessions }: CreateSessionDeps,
): Promise<Refusal | undefined> {
  if (who.keyId === null || directory.keyOf(body.widgetKey ?? '')?.key.revokedAtMs === null) return undefined;
  await sessions.end(record.id, 'key_revoked', request.atMs, request.requestId);
  return invalidWidgetKey();
}

function replyOf(
  { record, minted }: OpenedSession,
  { callMode: mode, dataChannel }: SessionConfig,
  deps: CreateSessionDeps,
): CreateReply {
  const base = deps.publicUrl();
  const { maxMinutes, maxIdleSec } = deps.sessions.limits;
  return {
    id: minted.sessionId,
    sm_session_id: record.id,
    client_secret: { value: minted.value, expires_at: minted.expiresAtSec },
    heartbeat: {
      intervalSec: deps.heartbeatIntervalSec,
      url: `${base}/api/realtime/heartbeat`,
      socketUrl: `${base.replace(/^http/, 'ws')}/api/realtime/socket`,
    },
    limits: { maxMinutes, maxIdleSec },
    call: {
      mode,
      url: mode === 'brokered' ? `${base}/api/realtime/calls` : (deps.provider.callUrl ?? null),
      dataChannel,
    },
  };
}
