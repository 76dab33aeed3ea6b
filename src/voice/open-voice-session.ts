import type { EndReason, VoiceRecord } from '../../machines/voice-session/types.ts';
import { Refusal, Unavailable } from '../kernel/errors.ts';
import { randomId } from '../kernel/ids.ts';
import { quotaRefusal } from '../quota/report-usage.ts';
import type { Events } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { UpstreamFault, type Minted, type UpstreamProvider } from '../upstream/contract.ts';
import type { SessionConfig } from '../tenants/agents.ts';
import {
  confirmKeySlot,
  refuseIfSpent,
  takeMinutes,
  takeSlots,
  type AdmittedCaller,
  type AllowanceParts,
  type Undo,
} from './allowances.ts';
import { invalidWidgetKey } from './proof.ts';
import type { VoiceSessions } from './sessions.ts';

export interface OpenParts extends AllowanceParts {
  readonly sessions: VoiceSessions;
  readonly provider: UpstreamProvider;
  readonly clock: { now(): number };
  readonly events: Events;
  readonly metrics: Metrics;
}

export interface OpenedSession {
  readonly record: VoiceRecord;
  readonly minted: Minted;
}

/**
 * Opens a voice session: sessions a minute, daily quota, concurrency, mint (contract section 4).
 * A refusal at one step spends nothing of the later ones. A slot comes back whenever no session is opened; a minute's count only while
 * nothing was asked of the provider, or when the provider itself failed: a caller who hangs up, or asks for what the provider does not take,
 * has had its try. The quota is looked at again when the session is registered: from then on a report that exceeds it ends the session.
 * @throws Unavailable when a store is away; what was taken is given back then too.
 */
export async function openVoiceSession(
  who: AdmittedCaller,
  session: SessionConfig,
  requestId: string,
  signal: AbortSignal,
  parts: OpenParts,
): Promise<OpenedSession | Refusal> {
  const at = parts.clock.now();
  const id = `s:${who.subject}:${randomId()}`;
  const minutes: Undo = [];
  const slots: Undo = [];
  try {
    const refused =
      (await takeMinutes(who, at, minutes, parts)) ??
      (await refuseIfSpent(who, at, parts)) ??
      (await takeSlots(who, id, at, slots, parts));
    if (refused !== undefined) {
      await giveBack(slots, parts);
      return refused;
    }
    const minted = signal.aborted ? callerGone() : await mint(who, session, requestId, signal, minutes, parts);
    if (minted instanceof Refusal) {
      await giveBack([...minutes, ...slots], parts);
      return minted;
    }
    const record = newRecord(id, who, session, parts.provider.name, minted, parts.clock.now());
    const endReason = await parts.sessions.open(record, requestId);
    const refusal = await settle(record, who, parts);
    if (endReason !== null) return overAlready(endReason);
    return refusal ?? { record, minted };
  } catch (fault) {
    await giveBack([...minutes, ...slots], parts);
    throw fault;
  }
}

/** @param minutes is emptied when the minute stays counted */
async function mint(
  who: AdmittedCaller,
  session: SessionConfig,
  requestId: string,
  signal: AbortSignal,
  minutes: Undo,
  { provider, metrics, events }: OpenParts,
): Promise<Minted | Refusal> {
  const startedAt = performance.now();
  const done = (outcome: string): void =>
    metrics.mints.observe({ provider: provider.name, outcome }, (performance.now() - startedAt) / 1000);
  const { model, voice, instructions, tools } = session;
  try {
    const minted = await provider.mint({ model, voice, instructions, tools, subjectHash: who.subject, signal });
    minutes.length = 0;
    done('minted');
    return signal.aborted ? callerGone() : minted;
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    if (signal.aborted || fault.blamesRequest) minutes.length = 0;
    done(signal.aborted ? 'caller_gone' : fault.kind);
    if (signal.aborted) return callerGone();
    events.dependencyAway('provider', fault, requestId);
    return fault.kind === 'timeout'
      ? new Refusal('UPSTREAM_TIMEOUT', 'The voice provider did not answer in time; try again.')
      : new Refusal(
          'UPSTREAM_ERROR',
          'The voice provider refused or gave no usable answer; the operator finds why in the log.',
        );
  }
}

function newRecord(
  id: string,
  who: AdmittedCaller,
  session: SessionConfig,
  provider: string,
  minted: Minted,
  at: number,
): VoiceRecord {
  return {
    id,
    subject: who.subject,
    caller: who.caller,
    tenantId: who.tenantId,
    agentId: session.agentId,
    keyId: who.keyId,
    named: who.named,
    loginId: who.loginId,
    provider,
    upstreamId: minted.sessionId,
    startedAtMs: at,
    lastSeenAtMs: at,
    lastActivityAtMs: at,
    settledAtMs: at,
    endedAtMs: null,
    endReason: null,
    version: 1,
  };
}

/** What a caller hears whose session was ended while it was opened. @throws Unavailable for an end that asks for another try */
function overAlready(endReason: EndReason): Refusal {
  if (endReason === 'key_revoked') return invalidWidgetKey();
  if (endReason === 'quota_exceeded') return quotaRefusal();
  throw new Unavailable('registry', new Error(`the session was ended while it was opened (${endReason})`));
}

/**
 * What may have changed while the secret was minted: the lease of the key's slot may have lapsed, and a report that ended the subject's or
 * the key's sessions may have been counted when this one was not yet among them.
 * @throws Unavailable when that cannot be seen, or the slot was lost; then the session is ended
 */
async function settle(
  { id, startedAtMs }: VoiceRecord,
  who: AdmittedCaller,
  parts: OpenParts,
): Promise<Refusal | undefined> {
  let refusal: Refusal | undefined;
  try {
    const [isHeld, spent] = await Promise.all([confirmKeySlot(who, id, parts), refuseIfSpent(who, startedAtMs, parts)]);
    if (!isHeld) throw new Unavailable('database', new Error("the key's slot lapsed while the session was opened"));
    refusal = spent;
  } catch (fault) {
    await parts.sessions.end(id, 'upstream_ended', startedAtMs);
    throw fault;
  }
  if (refusal !== undefined) await parts.sessions.end(id, 'quota_exceeded', startedAtMs);
  return refusal;
}

/** Gives back what was taken; a store that is away meanwhile gets it back by its own expiry. */
async function giveBack(undo: Undo, { events }: OpenParts): Promise<void> {
  for (const step of undo)
    try {
      await step();
    } catch (error) {
      events.faulted(error, undefined, 'give back after a refused create');
    }
}

/** Nobody hears it. */
function callerGone(): Refusal {
  return new Refusal('SERVICE_UNAVAILABLE', 'The caller went away before the session was open.');
}
