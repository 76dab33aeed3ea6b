import type { CloseRequest } from '../../machines/voice-call/types.ts';
import { classify } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceState } from '../../machines/voice-session/types.ts';
import type { CallSessions } from './contract.ts';
import type { HeldCall } from './held-call.ts';

/** Why the calls of a session in that state are closed; undefined where they go on. */
export function reasonFor(state: VoiceState): CloseRequest | undefined {
  if (state === 'engaged') return undefined;
  return state === 'ended' ? 'session_ended' : 'session_idle';
}

/** Closes those calls whose sessions are not engaged any more: what the bus says at once is found here when its message was lost. */
export async function closeWithSessions(
  calls: readonly HeldCall[],
  at: number,
  limits: VoiceLimits,
  sessions: Pick<CallSessions, 'lookUp'>,
): Promise<void> {
  if (calls.length === 0) return;
  const { records } = await sessions.lookUp([...new Set(calls.map(({ record }) => record.sessionId))]);
  const reasons = new Map(records.map((record) => [record.id, reasonFor(classify(record, at, limits))]));
  await Promise.all(
    calls.map(async (call) => {
      const reason = reasons.get(call.record.sessionId);
      if (reason !== undefined) await call.close(reason);
    }),
  );
}
