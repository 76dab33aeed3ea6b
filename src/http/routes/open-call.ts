import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { Calls, OpenCallRequest, OpenedCall } from '../../calls/contract.ts';
import { checkSdp, MAX_SDP_BYTES } from '../../calls/sdp-policy.ts';
import type { Tickets } from '../../calls/tickets.ts';
import { ifAway } from '../../kernel/errors.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { endedRefusal, Refusal } from '../../protocol/refusal.ts';
import type { LimitsOf, SharedOf } from '../../quota/ceilings.ts';
import { refuseIfSpent, type CeilingsHolder } from '../../quota/refuse-if-spent.ts';
import type { Holds } from '../../stores/holds/contract.ts';
import type { SessionSetup, SessionSetups } from '../../stores/session-setups/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import { whoseOf, type CreateDeps } from '../../voice/create/context.ts';
import { requireEngaged } from '../../voice/require-engaged.ts';
import { reserveUsage, type ReserveDeps } from '../../voice/reserve-usage.ts';
import type { VoiceSessions } from '../../voice/sessions.ts';
import type { TenantDirectory } from '../../tenants/directory.ts';
import { invalid } from '../invalid-request.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import type { Origins } from '../steps/origin.ts';
import { refusedOf, type SessionDeps } from '../session-refusal.ts';
import { exampleAnswer, exampleOffer } from '../samples.ts';

export interface OpenCallDeps
  extends Pick<CreateDeps, 'ledger' | 'calendar'>, ReserveDeps, Pick<SessionDeps, 'destroyLogin'> {
  readonly holds: Pick<Holds, 'take' | 'release'>;
  readonly sessions: Pick<VoiceSessions, 'find' | 'limits'>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly tickets: Pick<Tickets, 'find' | 'spend'>;
  readonly calls: Pick<Calls, 'open'>;
  readonly directory: Pick<TenantDirectory, 'keyNamed' | 'refreshIfLate'>;
  readonly origins: Pick<Origins, 'isConsole'>;
  readonly limitsOf: LimitsOf;
  readonly sharedOf: SharedOf;
  readonly requireOrigin: boolean;
  readonly events: Pick<Events, 'callAnswered'>;
}

const PATH = '/api/realtime/calls';
const SDP = 'application/sdp';

/** POST /api/realtime/calls (docs/contract.md, section 5.10): the provider's own shape, so that its SDK needs nothing but another address. */
export function openCallRoute(deps: OpenCallDeps): Route {
  return defineRoute<string>({
    method: 'POST',
    path: PATH,
    operationId: 'openCall',
    summary: 'Open the call of a brokered session',
    description:
      'Send the offer of a WebRTC connection with the client secret of the session as a bearer token, from the origin of its widget key; the answer comes back. The ticket is spent when all is right with the request; what opening comes to then does not bring it back.',
    tag: 'Voice sessions',
    access: 'proof',
    cors: 'widgets',
    text: { contentType: SDP, maxBytes: MAX_SDP_BYTES, example: exampleOffer },
    replies: {
      201: {
        description: 'The answer of the provider; `Location` names the call',
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
    handle: (call) => open(call, deps),
  });
}

async function open(call: Call<string>, deps: OpenCallDeps): Promise<Result> {
  const { request, body: offerSdp } = call;
  const ticket = /^Bearer +(\S+)$/i.exec(request.headers['authorization'] ?? '')?.[1] ?? '';
  const found = await findCaller(ticket, request.atMs, deps);
  if (found === undefined) return unknownTicket();
  const { session, setup } = found;
  const who = await holderOf(session, deps);
  const refusal = await refuse(call, found, who, deps);
  if (refusal !== undefined) return refusedOf(session, refusal, call, deps);
  const lapsesAtMs = session.startedAtMs + deps.sessions.limits.maxMinutes * MINUTE_MS;
  const notHeld = await reserveUsage(who, setup, lapsesAtMs, request.atMs, deps);
  // What others hold comes back, and is no violation: it costs neither the ticket nor a login.
  if (notHeld !== undefined) return notHeld.because(whoseOf(session));
  // Last, so that nothing that the caller can mend costs it the ticket; and first, so that of two who come at once one opens a call.
  if (!(await deps.tickets.spend(ticket, request.atMs))) return unknownTicket();
  const { requestId } = request;
  const opened = await openHeld({ session, setup, offerSdp, requestId, signal: request.signal() }, deps);
  if (opened instanceof Refusal) return refusedOf(session, opened, call, deps);
  const { id } = opened.record;
  deps.events.callAnswered(session, id, requestId);
  return {
    status: 201,
    body: opened.answerSdp,
    headers: [
      ['Content-Type', SDP],
      ['Location', `${PATH}/${id}`],
    ],
  };
}

interface Caller {
  readonly session: VoiceRecord;
  readonly setup: SessionSetup;
}

async function findCaller(ticket: string, atMs: number, deps: OpenCallDeps): Promise<Caller | undefined> {
  const id = await deps.tickets.find(ticket, atMs);
  if (id === undefined) return undefined;
  const [session, setup] = await Promise.all([deps.sessions.find(id), deps.setups.find(id)]);
  // A ticket whose session was never opened.
  return session === undefined || setup === undefined ? undefined : { session, setup };
}

/** Opens the call; where none is opened, its session holds nothing for it. */
async function openHeld(request: OpenCallRequest, { calls, holds }: OpenCallDeps): Promise<OpenedCall | Refusal> {
  let opened: OpenedCall | Refusal | undefined;
  try {
    opened = await calls.open(request);
    return opened;
  } finally {
    // While the database is away nobody ends it: it lapses by its own time.
    if (opened === undefined || opened instanceof Refusal)
      await holds.release(request.session.id).catch(ifAway(() => undefined));
  }
}

/** Whose ceilings the calls of a session count against, as they are now. */
async function holderOf(
  { subject, caller, tenantId, keyId }: VoiceRecord,
  { directory, limitsOf, sharedOf }: OpenCallDeps,
): Promise<CeilingsHolder> {
  await directory.refreshIfLate();
  const limits = limitsOf(caller, tenantId, keyId);
  const overrides = keyId === null ? undefined : directory.keyNamed(tenantId, keyId)?.limits;
  return { subject, keyId, limits, overrides, shared: sharedOf(tenantId, keyId) };
}

async function refuse(
  { origin, request: { atMs }, body }: Call<string>,
  { session, setup }: Caller,
  who: CeilingsHolder,
  deps: OpenCallDeps,
): Promise<Refusal | undefined> {
  const refusal =
    refuseOrigin(session, origin, deps) ??
    requireEngaged(session, atMs, deps.sessions.limits) ??
    refuseOffer(body, setup);
  return refusal ?? refuseIfSpent(who, atMs, deps);
}

/** The origin must be the one that may create such a session (docs/contract.md, section 4.1). */
function refuseOrigin(
  { tenantId, keyId }: VoiceRecord,
  origin: string | undefined,
  { directory, origins, requireOrigin, sessions }: OpenCallDeps,
): Refusal | undefined {
  const mismatch = new Refusal(
    'ORIGIN_MISMATCH',
    `This ticket works only from the origin that its session was created from, not from ${origin ?? 'a request without Origin'}.`,
  );
  if (keyId === null)
    return origin === undefined || origins.isConsole(origin)
      ? undefined
      : mismatch.because({ lever: 'CONSOLE_ORIGINS' });
  const key = directory.keyNamed(tenantId, keyId);
  if (origin === undefined ? requireOrigin : origin !== key?.origin)
    return mismatch.because({
      ...(key === undefined ? {} : { expected: key.origin }),
      lever: origin === undefined ? 'REQUIRE_ORIGIN_FOR_WIDGETS' : 'origin',
    });
  // A revoked key: what ends its sessions has not come to this one yet.
  return key?.revokedAtMs == null ? undefined : endedRefusal('key_revoked', sessions.limits.maxMinutes);
}

function refuseOffer(offer: string, { dataChannel }: SessionSetup): Refusal | undefined {
  const fault = checkSdp(offer, dataChannel);
  return fault === undefined ? undefined : invalid(`The offer ${fault}.`);
}

/** Unknown, spent and expired are the same on purpose. */
function unknownTicket(): Refusal {
  return new Refusal(
    'AUTH_REQUIRED',
    'Send a client secret that opens a call and was not used yet: Authorization: Bearer ek_sb_…; ask for another at /api/realtime/ticket.',
  );
}
