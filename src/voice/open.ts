import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import { Refusal } from '../protocol/refusal.ts';
import { randomId } from '../kernel/ids.ts';
import { quotaRefusal } from '../quota/report-usage.ts';
import type { SessionConfig } from '../tenants/agents.ts';
import { invalidWidgetKey } from '../tenants/directory.ts';
import type { SessionSetups } from '../stores/session-setups/contract.ts';
import type { Minted, UpstreamProvider } from '../upstream/contract.ts';
import {
  confirmKeySlot,
  refuseIfSpent,
  takeMinute,
  takeSlot,
  type AdmittedCaller,
  type AllowanceDeps,
} from './allowances.ts';
import type { Issuers } from './issue.ts';
import type { VoiceSessions } from './sessions.ts';
import { undoAll, type Undo } from './undo.ts';

export interface OpenDeps extends AllowanceDeps {
  readonly sessions: VoiceSessions;
  readonly provider: Pick<UpstreamProvider, 'name' | 'capabilities'>;
  readonly setups: Pick<SessionSetups, 'insert'>;
  readonly issuers: Issuers;
  readonly clock: { now(): number };
}

export interface OpenedSession {
  readonly record: VoiceRecord;
  readonly minted: Minted;
}

/**
 * Opens a voice session: minute, quota, slot, setup, mint or ticket, register (docs/contract.md, section 4.1). Each step that takes
 * something waits for the one before it; what is only looked at is asked for early. A refusal at one step spends nothing of the later ones.
 * The slot comes back whenever no session is opened; the minute's count only when a step throws before anything was asked of the
 * provider or a ticket was made, or when the provider itself failed: a caller who hangs up, or asks for what the provider does not take, has
 * had its try.
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
    // Asked at once, so that both travel together; the minute refuses first all the same.
    const looking = handled(refuseIfSpent(who, at, deps));
    const minute = await takeMinute(who, at, deps);
    if (minute instanceof Refusal) return minute;
    undo = [minute];
    const spent = await looking;
    if (spent !== undefined) return spent;
    const slot = await takeSlot(who, id, at, deps);
    if (slot instanceof Refusal) return slot;
    undo = [minute, slot];
    const saving = handled(saveSetup(id, session, at, deps));
    // A provider is asked when nothing else can fail any more; a ticket is nobody's before the answer, and waits for nothing.
    if (session.callMode === 'direct') await saving;
    const asked = { sessionId: id, subject: who.subject, config: session, atMs: at, requestId, signal };
    const { minted, isCounted } = await deps.issuers[session.callMode](asked);
    await saving;
    if (isCounted) undo = [slot];
    const opened = minted instanceof Refusal ? minted : await register(id, who, session, minted, requestId, deps);
    if (opened instanceof Refusal) await undoAll(undo, deps);
    return opened;
  } catch (fault) {
    await undoAll(undo, deps);
    throw fault;
  }
}

/** What is awaited later, and may not be when something before it fails: its own fault then goes unheard. */
function handled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/**
 * Saves what the session is created with, before anybody can open a call of it. Of a session whose page opens its calls itself only what
 * its creator noted on it is of use later.
 */
async function saveSetup(
  sessionId: string,
  { callMode, model, voice, instructions, tools, dataChannel, isLocked, price, metadata }: SessionConfig,
  createdAtMs: number,
  { setups }: OpenDeps,
): Promise<void> {
  if (callMode === 'direct' && metadata === null) return;
  const terms = { callMode, model, voice, tools, dataChannel, isLocked, price, metadata };
  await setups.insert({ sessionId, ...terms, instructions: instructions ?? null, createdAtMs });
}

/**
 * Registers the session, and sees that what it was admitted for still holds: meanwhile its key or quota may have been taken away.
 * @throws Unavailable when that cannot be seen, or the slot was lost; then the session is ended
 */
async function register(
  id: string,
  who: AdmittedCaller,
  { agentId, callMode }: SessionConfig,
  minted: Minted,
  requestId: string,
  deps: OpenDeps,
): Promise<OpenedSession | Refusal> {
  const { subject, caller, tenantId, keyId, named, loginId } = who;
  const isHeard = callMode === 'brokered' && deps.provider.capabilities.meter === 'events';
  const upstream = { provider: deps.provider.name, upstreamId: minted.sessionId, isHeard };
  const terms = { id, subject, caller, tenantId, agentId, keyId, named, loginId, ...upstream };
  const record = await deps.sessions.open(terms, deps.clock.now(), requestId);
  if (record.endReason !== null) return overAlready(record.endReason);
  return (await endIfSpent(record, who, requestId, deps)) ?? { record, minted };
}

/** The answer to a caller whose session was ended while it was opened. @throws Unavailable for an end that asks for another try */
function overAlready(endReason: EndReason): Refusal {
  if (endReason === 'key_revoked') return invalidWidgetKey();
  if (endReason === 'quota_exceeded') return quotaRefusal();
  throw new Unavailable('registry', new Error(`the session was ended while it was opened (${endReason})`));
}

/**
 * Ends the session when the quota is spent by now: a report that ended the subject's or the key's sessions may have been counted when this
 * one was not yet among them. The totals are read when both stores have the session: a report that they do not have yet is counted later,
 * and whoever counts it finds this one, also where one of the stores is away. The lease of the key's slot may have lapsed while the secret
 * was minted.
 * @throws Unavailable when that cannot be seen, or the slot was lost; then the session is ended
 */
async function endIfSpent(
  { id, startedAtMs }: VoiceRecord,
  who: AdmittedCaller,
  requestId: string,
  deps: OpenDeps,
): Promise<Refusal | undefined> {
  let spent: Refusal | undefined;
  try {
    const [isHeld, refusal] = await Promise.all([confirmKeySlot(who, id, deps), refuseIfSpent(who, startedAtMs, deps)]);
    if (!isHeld) throw new Unavailable('database', new Error("the key's slot lapsed while the session was opened"));
    spent = refusal;
  } catch (fault) {
    await deps.sessions.end(id, 'create_failed', startedAtMs, requestId);
    throw fault;
  }
  if (spent !== undefined) await deps.sessions.end(id, 'quota_exceeded', startedAtMs, requestId);
  return spent;
}
