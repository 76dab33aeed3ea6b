import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import { Refusal } from '../protocol/refusal.ts';
import { randomId } from '../kernel/ids.ts';
import { quotaRefusal } from '../quota/report-usage.ts';
import type { SessionConfig } from '../tenants/agents.ts';
import { invalidWidgetKey } from '../tenants/directory.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { UpstreamFault, type Minted, type UpstreamProvider } from '../upstream/contract.ts';
import {
  confirmKeySlot,
  refuseIfSpent,
  takeMinute,
  takeSlot,
  type AdmittedCaller,
  type AllowanceDeps,
} from './allowances.ts';
import type { VoiceSessions } from './sessions.ts';
import { undoAll, type Undo } from './undo.ts';

export interface OpenDeps extends AllowanceDeps {
  readonly sessions: VoiceSessions;
  readonly provider: UpstreamProvider;
  readonly clock: { now(): number };
  readonly metrics: Metrics;
}

export interface OpenedSession {
  readonly record: VoiceRecord;
  readonly minted: Minted;
}

/**
 * Opens a voice session: minute, quota, slot, mint, register (docs/contract.md, section 4.1), each step after the one before it. A refusal
 * at one step spends nothing of the later ones. The slot comes back whenever no session is opened; the minute's count only when a step
 * throws before anything was asked of the provider, or when the provider itself failed: a caller who hangs up, or asks for what the
 * provider does not take, has had its try.
 * @throws Unavailable when a store is away; what was taken is given back then too.
 */
export async function openVoiceSession(
  who: AdmittedCaller,
  session: SessionConfig,
  requestId: string,
  signal: AbortSignal,
  deps: OpenDeps,
): Promise<OpenedSession | Refusal> {
  const at = deps.clock.now();
  const id = `s:${who.subject}:${randomId()}`;
  let undo: Undo[] = [];
  try {
    const minute = await takeMinute(who, at, deps);
    if (minute instanceof Refusal) return minute;
    undo = [minute];
    const spent = await refuseIfSpent(who, at, deps);
    if (spent !== undefined) return spent;
    const slot = await takeSlot(who, id, at, deps);
    if (slot instanceof Refusal) return slot;
    undo = [minute, slot];
    const { minted, isCounted } = await mint(who, session, requestId, signal, deps);
    if (isCounted) undo = [slot];
    const opened = minted instanceof Refusal ? minted : await register(id, who, session, minted, requestId, deps);
    if (opened instanceof Refusal) await undoAll(undo, deps);
    return opened;
  } catch (fault) {
    await undoAll(undo, deps);
    throw fault;
  }
}

interface Mint {
  readonly minted: Minted | Refusal;
  /** Whether the caller has had its try of this minute. */
  readonly isCounted: boolean;
}

async function mint(
  who: AdmittedCaller,
  { model, voice, instructions, tools }: SessionConfig,
  requestId: string,
  signal: AbortSignal,
  { provider, metrics, events }: OpenDeps,
): Promise<Mint> {
  if (signal.aborted) return { minted: callerGone(), isCounted: false };
  const startedAt = performance.now();
  const done = (outcome: string): void =>
    metrics.mints.observe({ provider: provider.name, outcome }, (performance.now() - startedAt) / 1000);
  try {
    const minted = await provider.mint({ model, voice, instructions, tools, subjectHash: who.subject, signal });
    done('minted');
    return { minted: signal.aborted ? callerGone() : minted, isCounted: true };
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    done(signal.aborted ? 'caller_gone' : fault.kind);
    if (signal.aborted) return { minted: callerGone(), isCounted: true };
    events.dependencyAway('provider', fault, requestId);
    return { minted: upstreamRefusal(fault), isCounted: fault.blamesRequest };
  }
}

/**
 * Registers the session, and sees that what it was admitted for still holds: meanwhile its key or quota may have been taken away.
 * @throws Unavailable when that cannot be seen, or the slot was lost; then the session is ended
 */
async function register(
  id: string,
  who: AdmittedCaller,
  { agentId }: SessionConfig,
  minted: Minted,
  requestId: string,
  deps: OpenDeps,
): Promise<OpenedSession | Refusal> {
  const { subject, caller, tenantId, keyId, named, loginId } = who;
  const upstream = { provider: deps.provider.name, upstreamId: minted.sessionId };
  const terms = { id, subject, caller, tenantId, agentId, keyId, named, loginId, ...upstream };
  const record = await deps.sessions.open(terms, deps.clock.now(), requestId);
  if (record.endReason !== null) return overAlready(record.endReason);
  return (await endIfSpent(record, who, deps)) ?? { record, minted };
}

/** The answer to a caller whose session was ended while it was opened. @throws Unavailable for an end that asks for another try */
function overAlready(endReason: EndReason): Refusal {
  if (endReason === 'key_revoked') return invalidWidgetKey();
  if (endReason === 'quota_exceeded') return quotaRefusal();
  throw new Unavailable('registry', new Error(`the session was ended while it was opened (${endReason})`));
}

/**
 * Ends the session when the quota is spent by now: a report that ended the subject's or the key's sessions may have been counted when this
 * one was not yet among them. The lease of the key's slot may have lapsed while the secret was minted.
 * @throws Unavailable when that cannot be seen, or the slot was lost; then the session is ended
 */
async function endIfSpent(
  { id, startedAtMs }: VoiceRecord,
  who: AdmittedCaller,
  deps: OpenDeps,
): Promise<Refusal | undefined> {
  let spent: Refusal | undefined;
  try {
    const [isHeld, refusal] = await Promise.all([confirmKeySlot(who, id, deps), refuseIfSpent(who, startedAtMs, deps)]);
    if (!isHeld) throw new Unavailable('database', new Error("the key's slot lapsed while the session was opened"));
    spent = refusal;
  } catch (fault) {
    await deps.sessions.end(id, 'create_failed', startedAtMs);
    throw fault;
  }
  if (spent !== undefined) await deps.sessions.end(id, 'quota_exceeded', startedAtMs);
  return spent;
}

function upstreamRefusal({ kind }: UpstreamFault): Refusal {
  return kind === 'timeout'
    ? new Refusal('UPSTREAM_TIMEOUT', 'The voice provider did not answer in time; try again.')
    : new Refusal(
        'UPSTREAM_ERROR',
        'The voice provider refused or gave no usable answer; the operator finds why in the log.',
      );
}

/** Nobody is told. */
function callerGone(): Refusal {
  return new Refusal('SERVICE_UNAVAILABLE', 'The caller went away before the session was open.');
}
