import { longestEndMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { ifAway } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { ChannelDeps } from './deps.ts';

/**
 * What a page goes on by after the one that attaches here (docs/contract.md, section 5.13); undefined where the socket does not want the call,
 * the session's page opens it, or the database is away, without which it is attached all the same.
 */
export function resumeTokenOf(
  record: VoiceRecord,
  wants: readonly string[],
  { calls, sessions }: Pick<ChannelDeps, 'calls' | 'sessions'>,
): Eventually<string | undefined> {
  if (!wants.includes('call')) return undefined;
  return calls.resumeTokens.issue(record.id, longestEndMs(record, sessions.limits)).catch(ifAway(() => undefined));
}
