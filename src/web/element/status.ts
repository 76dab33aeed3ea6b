import type { ConversationState } from './conversation.ts';
import type { Status, MainWords } from './translations/message-types.ts';

/** The most important of the things that are true at the moment. */
export function statusOf(now: ConversationState): Status {
  if (now.phase === 'over' && now.error !== undefined) return 'failed';
  if (now.phase !== 'live') return now.phase;
  if (now.isCallAway || now.isServerAway) return 'reconnecting';
  // A visitor who holds the button has interrupted the agent, even if some of its voice is still playing.
  if (now.isPush && now.isTalking) return 'listening';
  if (now.isAgentSpeaking) return 'speaking';
  if (now.isThinking) return 'thinking';
  if (now.isWritten) return now.isQuiet ? 'idle' : 'reading';
  if (now.isMuted) return 'muted';
  if (now.isPush) return now.isQuiet ? 'idle' : 'waiting';
  return now.isQuiet ? 'idle' : 'listening';
}

/** Why it is over, or what failed; empty if the visitor ended it. */
export function messageOf({ phase, error, ended, notice }: ConversationState, words: MainWords): string {
  const failure = phase === 'over' ? error : notice;
  if (failure !== undefined) return words.errors[failure.code] ?? failure.userMessage;
  if (ended === undefined || ended.reason === 'closed_by_client') return '';
  return words.ends?.[ended.reason] ?? ended.userMessage;
}

/** Which limit is about to end it. */
export function warningOf({ warning }: ConversationState, words: MainWords, language: string, atMs: number): string {
  if (warning === undefined) return '';
  const { reason, endsAtMs } = warning;
  if (reason === 'quota') return words.warning.quota;
  if (endsAtMs === undefined) return words.warning.soon;
  return words.warning[reason].replace('{time}', timeIn(language, (endsAtMs - atMs) / 1000));
}

/** When the visitor may try again; empty if at once. */
export function retryOf({ retryAtMs }: ConversationState, words: MainWords, language: string, atMs: number): string {
  if (retryAtMs === undefined || retryAtMs <= atMs) return '';
  return words.retry.replace('{time}', timeIn(language, (retryAtMs - atMs) / 1000));
}

/** Units with their length in seconds, and the number of seconds from which they are exact enough. */
const UNITS = [
  ['hour', 3600, 5400],
  ['minute', 60, 120],
] as const;

/** A time from now in words: "in 42 seconds", "in 3 hours". Rounded up, so that nobody comes back too early. */
export function timeIn(language: string, seconds: number): string {
  const [unit, size] = UNITS.find(([, , least]) => seconds >= least) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat(language).format(Math.max(0, Math.ceil(seconds / size)), unit);
}
