import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { OpenCallRequest, OpenedCall } from '../../calls/contract.ts';
import { checkSdp, MAX_SDP_BYTES } from '../../calls/sdp.ts';
import { ifAway } from '../../kernel/errors.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { endedRefusal, Refusal } from '../../protocol/refusal.ts';
import type { CeilingsHolder } from '../../quota/ceilings.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import { whoseOf } from '../../sessions/create/step.ts';
import { requireEngaged } from '../../sessions/require-engaged.ts';
import { invalid, refusedOf } from '../refusals.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { exampleAnswer, exampleOffer } from '../samples.ts';

type OpenServices = Pick<Services, 'core' | 'tenants' | 'identity' | 'usage' | 'sessions' | 'calls' | 'origins'>;

const SDP = 'application/sdp';

/** POST /api/realtime/calls (docs/contract.md, section 5.10), in the provider's own shape, so that its SDK needs only another address. */
export function openCallRoute(services: OpenServices): Route {
  return callRoute(
    {
      path: '/api/realtime/calls',
      operationId: 'openCall',
      summary: 'Open the call of a brokered session',
      tag: 'Voice sessions',
    },
    services,
  );
}

/** POST /v1/realtime/calls: the same at the path that OpenAI's clients use (docs/contract.md, section 5.17). */
export function openVendorCallRoute(services: OpenServices): Route {
  return callRoute(
    {
      path: '/v1/realtime/calls',
      operationId: 'openVendorCall',
      summary: 'Open a call as OpenAI’s clients do',
      tag: 'Vendor paths',
    },
    services,
  );
}

function callRoute(place: Pick<Route, 'path' | 'operationId' | 'summary' | 'tag'>, services: OpenServices): Route {
  return defineRoute<string>({
    ...place,
    method: 'POST',
    description:
      'Send the WebRTC offer with the session’s client secret as a bearer token, from the origin of its widget key; the reply is the answer. The ticket is spent as soon as the request has passed all checks, even if opening the call then fails.',
    access: 'proof',
    cors: 'widgets',
    text: { contentType: SDP, maxBytes: MAX_SDP_BYTES, example: exampleOffer },
    replies: {
      201: {
        description: 'The provider’s answer; `Location` names the call',
        contentType: SDP,
        example: exampleAnswer,
      },
    },
    refusals: [
      'AUTH_REQUIRED',
      'ORIGIN_MISMATCH',
      'SESSION_DURATION_EXCEEDED',
      'CALL_IN_PROGRESS',
      'RATE_LIMIT_EXCEEDED',
      'DAILY_QUOTA_EXCEEDED',
      'UPSTREAM_ERROR',
      'UPSTREAM_TIMEOUT',
      'SERVICE_UNAVAILABLE',
    ],
    refusalExamples: { AUTH_REQUIRED: unknownTicket() },
    credentials: ['ticket'],
    handle: (call) => open(call, place.path, services),
  });
}

async function open(call: Call<string>, path: string, services: OpenServices): Promise<Result> {
  const { core, identity, usage, sessions, calls } = services;
  const { request, body: offerSdp } = call;
  const ticket = /^Bearer +(\S+)$/i.exec(request.headers['authorization'] ?? '')?.[1] ?? '';
  const found = await findCaller(ticket, request.atMs, services);
  if (found === undefined) return unknownTicket();
  const { session, setup } = found;
  const who = await holderOf(session, services);
  const refusal = await refuse(call, found, who, services);
  if (refusal !== undefined) return refusedOf(session, refusal, call, identity);
  const lapsesAtMs = session.startedAtMs + sessions.limits.maxMinutes * MINUTE_MS;
  const notHeld = await usage.reserve(who, setup, lapsesAtMs, request.atMs);
  // What other sessions hold becomes free again and is no violation, so this refusal costs neither the ticket nor a login.
  if (notHeld !== undefined) return notHeld.because(whoseOf(session));
  // After all checks, so that a fault that the caller can correct does not cost the ticket; before opening, so that of two requests with
  // one ticket only one opens a call.
  if (!(await calls.tickets.spend(ticket, request.atMs))) return unknownTicket();
  const { requestId } = request;
  const opened = await openHeld({ session, setup, offerSdp, requestId, signal: request.signal() }, services);
  if (opened instanceof Refusal) return refusedOf(session, opened, call, identity);
  const { id } = opened.record;
  core.events.callAnswered(session, id, requestId);
  return {
    status: 201,
    body: opened.answerSdp,
    headers: [
      ['Content-Type', SDP],
      ['Location', `${path}/${id}`],
    ],
  };
}

interface Caller {
  readonly session: VoiceRecord;
  readonly setup: SessionSetup;
}

async function findCaller(
  ticket: string,
  atMs: number,
  { core, sessions, calls }: OpenServices,
): Promise<Caller | undefined> {
  const id = await calls.tickets.find(ticket, atMs);
  if (id === undefined) return undefined;
  const [session, setup] = await Promise.all([sessions.find(id), core.stores.sessionSetups.find(id)]);
  // Undefined where the ticket's session was never opened.
  return session === undefined || setup === undefined ? undefined : { session, setup };
}

/** Opens the call. Where that fails, it releases what the session holds for the call. */
async function openHeld(request: OpenCallRequest, { usage, calls }: OpenServices): Promise<OpenedCall | Refusal> {
  let opened: OpenedCall | Refusal | undefined;
  try {
    opened = await calls.open(request);
    return opened;
  } finally {
    // While the database is away the hold cannot be released; it then expires by itself.
    if (opened === undefined || opened instanceof Refusal)
      await usage.release(request.session.id).catch(ifAway(() => undefined));
  }
}

/** The subject, key and tenant whose ceilings the calls of a session count against, with their present limits. */
async function holderOf(
  { id: sessionId, subject, caller, tenantId, keyId, agentId }: VoiceRecord,
  { tenants, usage }: OpenServices,
): Promise<CeilingsHolder> {
  await tenants.refreshIfLate();
  const limits = usage.limitsOf(caller, tenantId, keyId);
  const overrides = keyId === null ? undefined : tenants.keyNamed(tenantId, keyId)?.limits;
  const shared = usage.sharedOf(tenantId, keyId);
  return { subject, tenantId, keyId, agentId, sessionId, limits, overrides, shared };
}

async function refuse(
  { origin, request: { atMs }, body }: Call<string>,
  { session, setup }: Caller,
  who: CeilingsHolder,
  services: OpenServices,
): Promise<Refusal | undefined> {
  const refusal =
    refuseOrigin(session, origin, services) ??
    requireEngaged(session, atMs, services.sessions.limits) ??
    refuseStopped(session, services) ??
    refuseOffer(body, setup);
  return refusal ?? services.usage.refuseIfSpent(who, atMs);
}

/** Ending the sessions of a stopped service takes a while and may not have reached this session yet. */
function refuseStopped({ tenantId }: VoiceRecord, { tenants, sessions }: OpenServices): Refusal | undefined {
  return tenants.stopOf(tenantId) && endedRefusal('closed_by_operator', sessions.limits.maxMinutes);
}

/** The origin must be the one that may create such a session (docs/contract.md, section 4.1). */
function refuseOrigin(
  { tenantId, keyId }: VoiceRecord,
  origin: string | undefined,
  { core: { config }, tenants, origins, sessions }: OpenServices,
): Refusal | undefined {
  const mismatch = new Refusal(
    'ORIGIN_MISMATCH',
    `This ticket works only from the origin that its session was created from, not from ${origin ?? 'a request without Origin'}.`,
  );
  if (keyId === null)
    return origin === undefined || origins.isConsole(origin)
      ? undefined
      : mismatch.because({ lever: 'CONSOLE_ORIGINS' });
  const key = tenants.keyNamed(tenantId, keyId);
  if (origin === undefined ? config.requireOriginForWidgets : origin !== key?.origin)
    return mismatch.because({
      ...(key === undefined ? {} : { expected: key.origin }),
      lever: origin === undefined ? 'REQUIRE_ORIGIN_FOR_WIDGETS' : 'origin',
    });
  // For a revoked key: ending its sessions may not have reached this one yet.
  return key?.revokedAtMs == null ? undefined : endedRefusal('key_revoked', sessions.limits.maxMinutes);
}

function refuseOffer(offer: string, { dataChannel }: SessionSetup): Refusal | undefined {
  const fault = checkSdp(offer, dataChannel);
  return fault === undefined ? undefined : invalid(`The offer ${fault}.`);
}

/** Unknown, spent and expired tickets are refused alike on purpose. */
function unknownTicket(): Refusal {
  return new Refusal(
    'AUTH_REQUIRED',
    'Send a client secret that opens a call and was not used yet: Authorization: Bearer ek_sb_…; ask for another at /api/realtime/ticket.',
  );
}
