import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { FlatDetail } from '../stores/journal/contract.ts';
import type { ChannelDeps } from './deps.ts';

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
