import { longestEndMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { ifAway } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { ChannelDeps } from './deps.ts';

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
