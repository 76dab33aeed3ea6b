import { classify } from '../../machines/voice-session/selectors.ts';
import type { CallRecord, CallTerms } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { awaitedLater } from '../kernel/async.ts';
import { randomId } from '../kernel/ids.ts';
import { traceParentFor } from '../kernel/trace-context.ts';
import { endedRefusal, Refusal, upstreamRefusal } from '../protocol/refusal.ts';
import { serverToolsOf } from '../protocol/server-tool.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import { PROVIDER_SPAN } from '../telemetry/traces/session-spans.ts';
import {
  CallOver,
  UnansweredCall,
  UpstreamFault,
  type BrokeredProvider,
  type CreatedCall,
} from '../upstream/contract.ts';
import type { CallHolder, HeldCall } from './held-call.ts';
import type { CallDeps } from './deps.ts';
import type { OpenCallRequest, OpenedCall } from './contract.ts';
import { checkSdp } from './sdp.ts';

/** Added to the provider's time limits before a call that is still being created is given up. */
const SPARE_MS = 5000;

const gone = new UpstreamFault('timeout', 'the caller went away');

interface OpenCallDeps extends CallHolder {
  readonly provider: BrokeredProvider;
}

/**
 * Opens a call (docs/contract.md, section 5.10): saves its record, ends the former call, creates the call at the provider, attaches the sideband,
 * answers. Each step is saved before the next, so that a node that takes the call over knows what to end. A create is never repeated.
 * @returns a Refusal as documented at `Calls.open`; then nothing is left open
 * @throws Unavailable when the database is away
 */
export async function openCall(request: OpenCallRequest, deps: OpenCallDeps): Promise<OpenedCall | Refusal> {
  const { session, setup } = request;
  const record = await insert(request, deps);
  if (record instanceof Refusal) return record;
  const held = deps.hold(record, setup);
  held.requestId = request.requestId;
  try {
    const isOver = await whyOver(session.id, deps);
    const formers = isOver === undefined ? await endFormer(record, request, deps) : [];
    // Checked after the former calls were told to close: what their tools answer later comes too late to matter.
    const over = isOver ?? (formers.length > 0 ? await endedByTool(request, deps) : undefined);
    const isFirst = !formers.some(wasHandedOut);
    const remembered = isFirst || over !== undefined ? undefined : awaitedLater(held.pages.carryover.remember());
    const created = over ?? (await create(held, request, deps));
    await remembered;
    if (!(created instanceof Refusal)) {
      const opened = await connect(held, created, request, deps);
      if (opened instanceof Refusal) return opened;
      // A visitor who continues a conversation is not greeted again.
      if (isFirst) held.conversation.greet();
      else held.pages.carryover.goOn();
      for (const { wrappedUpAtMs } of formers)
        if (wrappedUpAtMs !== null) held.conversation.noteWrappedUp(wrappedUpAtMs);
      return opened;
    }
    await held.createFailed();
    return created;
  } catch (fault) {
    await held.close('create_failed');
    const isProviders = fault instanceof CallOver || fault instanceof UpstreamFault;
    if (!isProviders && !request.signal.aborted) throw fault;
    // If the session ended meanwhile, that is why the request to the provider was cut off: it is the refusal to give.
    return (await whyOver(session.id, deps)) ?? refusalOf(fault, request, deps);
  } finally {
    held.requestId = undefined;
  }
}

async function insert(
  { session, setup, requestId }: OpenCallRequest,
  deps: OpenCallDeps,
): Promise<CallRecord | Refusal> {
  const { store, host, clock, lease, createTimeoutMs, readyMs, perSession } = deps;
  const at = clock.now();
  const record = host.open({
    type: 'CREATE',
    at,
    terms: termsOf(`call_${randomId()}`, session, setup, deps),
    node: lease.node,
    giveUpAtMs: at + createTimeoutMs + readyMs + SPARE_MS,
    requestId,
  });
  const inserted = await store.insert(record, perSession);
  if (inserted === 'inserted') return record;
  return inserted === 'in_progress'
    ? new Refusal('CALL_IN_PROGRESS', 'Another call of this session is being opened; wait for its answer.')
    : callsUsedUp(perSession);
}

/** The refusal for a session that has used all its calls. */
export function callsUsedUp(perSession: number): Refusal {
  return new Refusal(
    'RATE_LIMIT_EXCEEDED',
    `The session has had its ${perSession} calls; create a new session.`,
    {},
    { layer: 'slot', limit: perSession, count: perSession, unit: 'calls', lever: 'CALLS_PER_SESSION' },
  );
}

/** The refusal for a session that ended meanwhile; undefined while it is engaged. */
async function whyOver(
  sessionId: string,
  { sessions, clock, voiceLimits }: OpenCallDeps,
): Promise<Refusal | undefined> {
  const session = await sessions.find(sessionId);
  if (session !== undefined && classify(session, clock.now(), voiceLimits) === 'engaged') return undefined;
  return endedRefusal(session?.endReason ?? 'idle_exceeded', voiceLimits.maxMinutes);
}

/** If a tool has asked for the session to end while the agent says its last words, a page cannot escape that by opening another call. */
async function endedByTool(
  { session: { id }, setup }: OpenCallRequest,
  { serverTools, sessions, clock, voiceLimits }: OpenCallDeps,
): Promise<Refusal | undefined> {
  if (serverToolsOf(setup.tools).size === 0) return undefined;
  const asked = await serverTools.store.ofSession(id);
  if (asked.every(({ endReason }) => endReason === null)) return undefined;
  await sessions.end(id, 'closed_by_tool', clock.now());
  return endedRefusal('closed_by_tool', voiceLimits.maxMinutes);
}

/** Closes the former calls; the nodes that hold them hang them up, and nobody waits for that. @returns all calls that the session had before */
async function endFormer(
  { id, sessionId }: CallRecord,
  { requestId }: OpenCallRequest,
  { store, host, clock }: OpenCallDeps,
): Promise<readonly CallRecord[]> {
  const formers = (await store.ofSession(sessionId)).filter((call) => call.id !== id);
  for (const former of formers)
    if (former.state !== 'closed')
      await host.send(former.id, { type: 'CLOSE', at: clock.now(), reason: 'replaced', requestId });
  return formers;
}

/** Whether a page was given the call: others are closed before anybody speaks in them. */
function wasHandedOut({ openedAtMs, closeReason }: CallRecord): boolean {
  return openedAtMs !== null && closeReason !== 'create_failed';
}

async function create(held: HeldCall, request: OpenCallRequest, deps: OpenCallDeps): Promise<CreatedCall | Refusal> {
  const { session, setup, offerSdp, signal } = request;
  const { model, voice, tools, behaviour, dataChannel } = setup;
  const maxOutputTokens = await held.boundOnResponses();
  if (signal.aborted) return callerGone();
  // Closes the call at once, so that the next call need not wait until the provider has answered this one.
  const callOff = (): void => void held.close('create_failed');
  signal.addEventListener('abort', callOff);
  const startedAt = performance.now();
  const done = (outcome: string): void =>
    deps.events.callAsked(deps.provider.name, outcome, (performance.now() - startedAt) / 1000);
  try {
    const created = await deps.provider.createCall({
      model,
      voice,
      instructions: setup.instructions ?? undefined,
      tools,
      behaviour,
      dataChannel,
      offerSdp,
      subjectHash: session.subject,
      traceparent: traceParentFor(setup.trace, PROVIDER_SPAN, held.record.id),
      maxOutputTokens,
      // Not the caller's signal: only the answer names the call, and without that name it could not be hung up.
      signal: AbortSignal.timeout(deps.createTimeoutMs),
    });
    done('minted');
    return created;
  } catch (fault) {
    done(fault instanceof UpstreamFault ? fault.kind : 'caller_gone');
    if (fault instanceof UnansweredCall) {
      await held.created({ providerCallId: fault.providerCallId, answerSdp: '' });
      await held.close('create_failed');
    }
    if (fault instanceof UpstreamFault || signal.aborted) return refusalOf(fault, request, deps);
    throw fault;
  } finally {
    signal.removeEventListener('abort', callOff);
  }
}

/** @throws CallOver, UpstreamFault or Unavailable; then the caller must close the call */
async function connect(
  held: HeldCall,
  created: CreatedCall,
  { session, setup, signal }: OpenCallRequest,
  deps: OpenCallDeps,
): Promise<OpenedCall | Refusal> {
  await held.created(created);
  if (signal.aborted) throw gone;
  const wrong = checkSdp(created.answerSdp, setup.dataChannel);
  if (wrong !== undefined) throw new UpstreamFault('malformed', "the provider's answer is refused", { detail: wrong });
  if (held.record.state === 'creating') await held.open(AbortSignal.any([signal, AbortSignal.timeout(deps.readyMs)]));
  if (signal.aborted) throw gone;
  const { record } = held;
  if (record.state === 'open') return { record, answerSdp: created.answerSdp };
  return (await whyOver(session.id, deps)) ?? upstreamRefusal();
}

/** If the caller went away, the fault is not reported: nobody waits for this call. */
function refusalOf(fault: unknown, { requestId, signal }: OpenCallRequest, { events }: OpenCallDeps): Refusal {
  if (signal.aborted) return callerGone();
  if (fault instanceof CallOver) return upstreamRefusal();
  events.dependencyAway('provider', fault, requestId, 'call');
  return upstreamRefusal(fault instanceof UpstreamFault ? fault : undefined);
}

function callerGone(): Refusal {
  return new Refusal('SERVICE_UNAVAILABLE', 'The caller went away before the call was open.');
}

/** The terms of a new call of a session: they stay the same until it ends. */
export function termsOf(
  id: string,
  { id: sessionId, subject, tenantId, keyId }: VoiceRecord,
  { model }: Pick<SessionSetup, 'model'>,
  { provider, accounts: { fingerprint } }: Pick<CallDeps, 'provider' | 'accounts'>,
): CallTerms {
  return { id, sessionId, subject, tenantId, keyId, provider: provider.name, fingerprint, model };
}
