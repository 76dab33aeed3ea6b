import type { EndReason, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Language } from '../protocol/visitor-messages/languages.ts';
import { Refusal } from '../protocol/refusal.ts';
import { edgeRefusal } from '../rate-limits/requests-per-minute.ts';
import { toMicroDollars } from '../quota/dollars.ts';
import { refusalFrame } from './answers.ts';
import type { ChannelDeps } from './deps.ts';
import type { ClientFrame, ServerFrame } from '../protocol/frames.ts';

export interface UsageAnswer {
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
