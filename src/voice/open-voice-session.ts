import type { CallerLimits } from '../../config/config.ts';
import type { EndReason, VoiceRecord } from '../../machines/voice-session/types.ts';
import { Refusal, Unavailable } from '../kernel/errors.ts';
import { randomId } from '../kernel/ids.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { isSpent } from '../quota/ceilings.ts';
import { quotaRefusal } from '../quota/report-usage.ts';
import type { Counters, CounterTake } from '../stores/counters/contract.ts';
import type { Ledger } from '../stores/ledger/contract.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { UpstreamFault, type Minted, type UpstreamProvider } from '../upstream/contract.ts';
import type { SessionConfig } from '../tenants/agents.ts';
import { invalidWidgetKey } from './proof.ts';
import type { VoiceSessions } from './voice-sessions.ts';

const MINUTE_MS = 60_000;
/** A slot that is taken for a mint outlives the provider's time-out by this much, should this process die. */
const MINT_GRACE_MS = 10_000;

/** A caller that passed the checks of key, origin, agent and bots. */
export interface AdmittedCaller {
  readonly caller: VoiceRecord['caller'];
  readonly subject: string;
  readonly tenantId: string;
  readonly keyId: string | null;
  readonly named: boolean;
  readonly loginId: string | null;
  readonly limits: CallerLimits;
}

export interface OpenParts {
  readonly sessions: VoiceSessions;
  readonly counters: Counters;
  readonly ledger: Ledger;
  readonly slots: Slots;
  readonly provider: UpstreamProvider;
  readonly mintTimeoutMs: number;
  readonly calendar: (atMs: number) => QuotaDay;
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
 * A refusal at one step spends nothing of the later ones; a failed mint gives its slot and its minute count back. The quota is
 * looked at again when the session is registered: from then on a report that exceeds it ends the session.
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
  const counterKey = `sessions:${who.subject}`;
  const minute = await parts.counters.take(counterKey, who.limits.sessionsPerMinute, MINUTE_MS, at);
  if (!minute.allowed) return rateRefusal(minute, who.limits.sessionsPerMinute, at);

  const id = `s:${who.subject}:${randomId()}`;
  const undo: (() => unknown)[] = [() => parts.counters.giveBack(counterKey, minute.windowStartMs)];
  try {
    const totals = await parts.ledger.totals(who.subject, parts.calendar(at).day);
    if (isSpent(totals, who.limits)) return quotaRefusal();

    const leaseUntilMs = at + parts.mintTimeoutMs + MINT_GRACE_MS;
    if (!(await parts.slots.take(who.subject, id, who.limits.concurrentSessions, leaseUntilMs, at)))
      return slotRefusal(who.limits.concurrentSessions);
    undo.push(() => parts.slots.free(who.subject, id));

    const minted = await mint(who, session, requestId, signal, parts);
    if (minted instanceof Refusal) {
      await giveBack(undo, parts);
      return minted;
    }
    const record = newRecord(id, who, session, parts.provider.name, minted, parts.clock.now());
    const endReason = await parts.sessions.open(record, requestId);
    if (endReason !== null) return overAlready(endReason);
    return (await endIfSpent(record, who.limits, parts)) ?? { record, minted };
  } catch (fault) {
    await giveBack(undo, parts);
    throw fault;
  }
}

async function mint(
  who: AdmittedCaller,
  session: SessionConfig,
  requestId: string,
  signal: AbortSignal,
  { provider, metrics, events }: OpenParts,
): Promise<Minted | Refusal> {
  const startedAt = performance.now();
  const done = (outcome: string): void =>
    metrics.mints.observe({ provider: provider.name, outcome }, (performance.now() - startedAt) / 1000);
  const { model, voice, instructions, tools } = session;
  try {
    const minted = await provider.mint({ model, voice, instructions, tools, subjectHash: who.subject, signal });
    if (signal.aborted) throw new UpstreamFault('unreachable', 'the caller went away');
    done('minted');
    return minted;
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    done(fault.kind);
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

/** A report that was counted while the secret was minted ended the subject's sessions when this one was not yet among them. */
async function endIfSpent(
  { id, subject, startedAtMs }: VoiceRecord,
  limits: CallerLimits,
  { ledger, sessions, calendar }: OpenParts,
): Promise<Refusal | undefined> {
  try {
    const totals = await ledger.totals(subject, calendar(startedAtMs).day);
    if (!isSpent(totals, limits)) return undefined;
  } catch (fault) {
    await sessions.end(id, 'upstream_ended', startedAtMs);
    throw fault;
  }
  await sessions.end(id, 'quota_exceeded', startedAtMs);
  return quotaRefusal();
}

/** Gives back what was taken; a store that is away meanwhile gets it back by its own expiry. */
async function giveBack(undo: readonly (() => unknown)[], parts: OpenParts): Promise<void> {
  for (const step of undo)
    try {
      await step();
    } catch (error) {
      parts.events.faulted(error, undefined, 'give back after a refused create');
    }
}

function rateRefusal(minute: CounterTake, limit: number, at: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil((minute.retryAtMs - at) / 1000));
  return new Refusal('RATE_LIMIT_EXCEEDED', `More than ${limit} sessions in a minute; wait ${retryAfter} s.`, {
    retryAfter,
  });
}

function slotRefusal(limit: number): Refusal {
  return new Refusal('MAX_CONCURRENT_SESSIONS', `${limit} sessions are open already; end one with /api/realtime/end.`);
}
