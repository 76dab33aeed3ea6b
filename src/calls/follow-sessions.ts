import type { CloseRequest } from '../../machines/voice-call/types.ts';
import { classify, longestEndMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceState } from '../../machines/voice-session/types.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { CallDeps } from './deps.ts';
import type { HeldCall } from './held-call.ts';

/** How far ahead a session is told that its call is heard, and how much of that is left when it is told again. */
const HEARD_MS = MINUTE_MS;
const HEARD_LEFT_MS = 30_000;
/** How long before the end of a session the agent says goodbye. */
const WRAP_UP_MS = 30_000;

/** Why the calls of a session in this state are closed; undefined where they go on. */
export function closeReasonFor(state: VoiceState): CloseRequest | undefined {
  if (state === 'engaged') return undefined;
  return state === 'ended' ? 'session_ended' : 'session_idle';
}

/** Tells a session, in the background, until when its call is heard: if that is lost, the next look tells it again, or the mark lapses. */
export function noteHeard(
  sessionId: string,
  at: number,
  untilMs: number,
  { running, sessions }: Pick<CallDeps, 'running' | 'sessions'>,
): void {
  running.start((async () => sessions.noteHeard(sessionId, at, untilMs))());
}

/**
 * Closes calls whose sessions are no longer engaged, in case the bus message that said so was lost. Tells the other sessions that they are heard, but
 * only a short while ahead, so that it lapses when this node dies. Where a session is about to end by its duration or its budget, its agent says
 * goodbye.
 */
export async function followSessions(calls: readonly HeldCall[], at: number, deps: CallDeps): Promise<void> {
  if (calls.length === 0) return;
  const { voiceLimits: limits, sessions, budgets } = deps;
  // A visitor in a call that the page opened itself is never idle: nobody hears that call, so silence proves nothing.
  const isOpenedByPages = deps.limits.returnSec !== undefined;
  const { records } = await sessions.lookUp([...new Set(calls.map(({ record }) => record.sessionId))]);
  const known = new Map(records.map((record) => [record.id, record]));
  await Promise.all(
    calls.map(async (call) => {
      const session = known.get(call.record.sessionId);
      if (session === undefined) return;
      const reason = closeReasonFor(classify(session, at, limits));
      if (reason !== undefined) await call.close(reason);
      call.firstWords.follow(session);
      // A session that still waits for the visitor's first words goes on once they speak, so that deadline triggers no goodbye.
      const endsAtMs = Math.min(longestEndMs(session, limits), budgets.endsAtMs(call.record.id));
      if (endsAtMs - at <= WRAP_UP_MS) call.conversation.wrapUp('ending');
      const isHeard = call.record.state === 'open' && call.hasSideband;
      const activeMs = Math.min(HEARD_LEFT_MS, (limits.maxIdleSec * SECOND_MS) / 3);
      const isThere = isOpenedByPages && call.record.state === 'open' && reason === undefined;
      if (isThere && at - session.lastActivityAtMs >= activeMs) await sessions.noteActivity(session.id, at);
      if (isHeard && session.heardUntilMs - at < HEARD_LEFT_MS) noteHeard(session.id, at, at + HEARD_MS, deps);
    }),
  );
}
