import { classify, savedState, toldLimits, longestEndMs } from '../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { Unavailable, ifAway } from '../kernel/errors.ts';
import { endedRefusal, Refusal } from '../protocol/refusal.ts';
import type { Language } from '../protocol/error-translations/languages.ts';
import { VISITOR_MESSAGES } from '../protocol/error-translations/by-language.ts';
import { rateSession } from '../sessions/rate-session.ts';
import { viewOf, viewText } from '../sessions/records.ts';
import type { ChannelDeps } from './deps.ts';
import { clientFrame, type ClientFrame, type ServerFrame } from '../protocol/frames.ts';
import { parseJson } from '../kernel/post.ts';
import { findUnstorable } from '../kernel/text.ts';
import { edgeRefusal } from '../rate-limits/requests-per-minute.ts';
import { toMicroDollars } from '../protocol/money.ts';
import type { Eventually } from '../kernel/async.ts';
import { isViolation } from '../../machines/voice-session/end-reasons.ts';
import type { FlatDetail } from '../stores/journal/contract.ts';

/** Reads one text message; undefined for anything that is not a frame. */
export function readFrame(text: string): ClientFrame | undefined {
  const value = parseJson(text);
  // Only an escape can contain text that cannot be stored: the message itself is valid UTF-8.
  if (text.includes('\\u') && findUnstorable(value).length > 0) return undefined;
  return isHeartbeat(value) ? value : clientFrame.safeParse(value).data;
}

type Heartbeat = Extract<ClientFrame, { type: 'heartbeat' }>;

/**
 * A fast check for the frame that makes up nearly all traffic, at a twentieth of the schema's cost. The schema accepts everything that it accepts (a
 * test keeps the two together), and decides about everything else.
 */
function isHeartbeat(value: unknown): value is Heartbeat {
  if (typeof value !== 'object' || value === null) return false;
  const { type, idleSec, id } = value as Partial<Record<keyof Heartbeat, unknown>>;
  if (type !== 'heartbeat') return false;
  if (idleSec !== undefined && !(Number.isSafeInteger(idleSec) && (idleSec as number) >= 0)) return false;
  return id === undefined || Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= 255);
}

/** The state to report for a session that has not ended: an end that is due but has not happened yet has no reason to report. */
export function toldState(record: VoiceRecord, at: number, { sessions }: Pick<ChannelDeps, 'sessions'>): VoiceState {
  const state = classify(record, at, sessions.limits);
  return state === 'ended' ? savedState(record, sessions.limits) : state;
}

export function attachedFrame(
  record: VoiceRecord,
  state: VoiceState,
  at: number,
  resume: string | undefined,
  deps: ChannelDeps,
): ServerFrame {
  return {
    type: 'attached',
    session: viewOf(record, at),
    state,
    heartbeat: { intervalSec: deps.config.heartbeatIntervalSec },
    limits: toldLimits(record, deps.sessions.limits),
    resume,
  };
}

/**
 * The answer to a heartbeat of an engaged session as text: what JSON.stringify would make of the frame, at a third of its cost. Only the id can hold
 * a character that needs escaping.
 */
export function heartbeatAnswer(record: VoiceRecord, at: number, id: string | number | undefined): string {
  const idText = id === undefined ? '' : `"id":${typeof id === 'string' ? JSON.stringify(id) : id},`;
  return `{"type":"heartbeat",${idText}"session":${viewText(record, at)},"state":"engaged"}`;
}

/** The frame for a new visitor's first words. @param record the last one known */
export function spokeFrame(record: VoiceRecord, at: number, deps: Pick<ChannelDeps, 'sessions'>): ServerFrame {
  const present = { ...record, wordsDueAtMs: 0 };
  return { type: 'state', state: toldState(present, at, deps), session: viewOf(present, at) };
}

export function endedFrame(
  reason: EndReason,
  language: Language,
  { sessions }: Pick<ChannelDeps, 'sessions'>,
): ServerFrame {
  const { maxMinutes } = sessions.limits;
  const refusal = endedRefusal(reason, maxMinutes);
  return { type: 'ended', code: refusal.code, reason, userMessage: refusal.wordsIn(language), maxMinutes };
}

/** The answer to a frame that failed; the client may send it again. */
export function faultFrame(fault: unknown, frame: ClientFrame, language: Language): ServerFrame {
  const code = fault instanceof Unavailable ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR';
  const userMessage = VISITOR_MESSAGES[language].errors[code];
  return { type: 'error', code, userMessage, id: 'id' in frame ? frame.id : undefined };
}

/** The answer to a message that is not a frame. */
export function badFrame(language: Language): ServerFrame {
  return { type: 'error', code: 'INVALID_REQUEST', userMessage: VISITOR_MESSAGES[language].errors.INVALID_REQUEST };
}

/** The answer to a frame that is refused. */
export function refusalFrame(refusal: Refusal, id: string | undefined, language: Language): ServerFrame {
  const { code, error, additions } = refusal;
  const { retryAfter, counted, usage } = additions;
  return { type: 'error', code, error, userMessage: refusal.wordsIn(language), id, retryAfter, counted, usage };
}

interface UsageAnswer {
  /** Undefined where there is nothing to say but the end. */
  readonly answer: ServerFrame | undefined;
  /** Why the session is over, if it is. */
  readonly endReason: EndReason | null;
}

/**
 * Counts a usage frame of an attached session, in the window of its address as a request would be.
 * @param from the name of the address in its window, and the language of what its user reads
 * @throws Unavailable when the database is away: then nothing is counted
 */
export async function answerUsage(
  attached: VoiceRecord,
  { id, tokens, dollars, response }: Extract<ClientFrame, { type: 'usage' }>,
  { address, language }: { readonly address: string; readonly language: Language },
  atMs: number,
  deps: ChannelDeps,
): Promise<UsageAnswer> {
  const window = deps.edge.address;
  const counted = await deps.live.windows.take(window.prefix + address, window.perMinute, atMs);
  if (!counted.allowed) {
    const refusal = edgeRefusal(window, counted, atMs);
    deps.events.refused(refusal.code, 'usage frame', undefined, refusal.error, attached);
    return { answer: refusalFrame(refusal, id, language), endReason: null };
  }
  // The session may have ended while the message about that was lost.
  const record = (await deps.sessions.find(attached.id)) ?? attached;
  const { endReason } = record;
  const who = await deps.usage.subjectOfSession(record, false, atMs);
  const report = { tokens, microDollars: toMicroDollars(dollars), idempotencyKey: id, response, atMs };
  const result = who instanceof Refusal ? who : await deps.usage.report(who, report);
  if (!(result instanceof Refusal)) return { answer: { type: 'usage', id, ...result }, endReason };
  const { code } = result;
  if (code === 'SESSION_DURATION_EXCEEDED') return { answer: undefined, endReason };
  deps.events.refused(code, 'usage frame', undefined, result.error, attached);
  return {
    answer: refusalFrame(result, id, language),
    endReason: code === 'DAILY_QUOTA_EXCEEDED' ? (endReason ?? 'quota_exceeded') : endReason,
  };
}

/** Keeps the rating of an attached session; the client gets no answer. @throws Unavailable when the database is away */
export async function keepRating(
  record: VoiceRecord,
  value: number,
  atMs: number,
  { stores, sessions }: Pick<ChannelDeps, 'stores' | 'sessions'>,
): Promise<void> {
  await rateSession(record, value, atMs, stores.history, sessions.limits.maxMinutes);
}

/**
 * Destroys the login that opened a console session when its client is answered with a violation, as over HTTP (docs/contract.md, section 5.9). A push
 * does not count as an answer.
 * @throws Unavailable (rejects) when the database is away: then the login goes on
 */
export function endLoginOnViolation(
  { loginId }: VoiceRecord,
  reason: EndReason,
  { identity, clock }: Pick<ChannelDeps, 'identity' | 'clock'>,
): Eventually<void> {
  if (loginId !== null && isViolation(reason))
    return identity.logins.destroy(loginId, 'violation', clock.now()).then(() => undefined);
}

/**
 * The token with which another page may continue this session (docs/contract.md, section 5.13); undefined where the socket does not want the call,
 * where the page opens the call itself, or while the database is away: the socket is attached anyway.
 */
export function resumeTokenOf(
  record: VoiceRecord,
  wants: readonly string[],
  { calls, sessions }: Pick<ChannelDeps, 'calls' | 'sessions'>,
): Eventually<string | undefined> {
  if (!wants.includes('call')) return undefined;
  return calls.resumeTokens.issue(record.id, longestEndMs(record, sessions.limits)).catch(ifAway(() => undefined));
}

/** Notes for operators what became of a socket; one that has not attached has no session to note it on. */
export function noteSocket(
  record: VoiceRecord | undefined,
  kind: 'attached' | 'detached' | 'warned',
  detail: FlatDetail,
  { clock, journal }: Pick<ChannelDeps, 'clock' | 'journal'>,
): void {
  if (record === undefined) return;
  const { id: sessionId, tenantId } = record;
  journal.note({ sessionId, tenantId, atMs: clock.now(), kind, detail });
}
