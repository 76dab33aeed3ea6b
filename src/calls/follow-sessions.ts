import type { CloseRequest } from '../../machines/voice-call/types.ts';
import { classify, longestEndMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceState } from '../../machines/voice-session/types.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Budgets } from '../metering/contract.ts';
import type { CallSessions } from './contract.ts';
import type { HeldCall } from './held-call.ts';

/** How far ahead sessions are told that a call of theirs is heard, and how much of that is left when they are told again. */
const HEARD_MS = MINUTE_MS;
const HEARD_LEFT_MS = 30_000;
/** How long before the end of a session its agent says goodbye. */
const WRAP_UP_MS = 30_000;

/** Why the calls of a session in that state are closed; undefined where they go on. */
export function closeReasonFor(state: VoiceState): CloseRequest | undefined {
  if (state === 'engaged') return undefined;
  return state === 'ended' ? 'session_ended' : 'session_idle';
}

interface FollowDeps {
  readonly limits: VoiceLimits;
  readonly sessions: Pick<CallSessions, 'lookUp' | 'noteActivity'>;
  /** Who is in a call that its page opened itself is not idle, whatever is said there: nobody hears it. */
  readonly isOpenedByPages: boolean;
  readonly budgets: Pick<Budgets, 'endsAtMs'>;
  readonly noteHeard: (sessionId: string, at: number, untilMs: number) => void;
}

/**
 * Closes those calls whose sessions are not engaged any more: what the bus says at once is found here when its message was lost. The
 * others' sessions are told that they are heard, for a while ahead: no longer, so that the word of a node that dies lapses. Where a session is
 * about to end by its duration or its budget, its agent says goodbye.
 */
export async function followSessions(
  calls: readonly HeldCall[],
  at: number,
  { limits, sessions, budgets, noteHeard, isOpenedByPages }: FollowDeps,
): Promise<void> {
  if (calls.length === 0) return;
  const { records } = await sessions.lookUp([...new Set(calls.map(({ record }) => record.sessionId))]);
  const known = new Map(records.map((record) => [record.id, record]));
  await Promise.all(
    calls.map(async (call) => {
      const session = known.get(call.record.sessionId);
      if (session === undefined) return;
      const reason = closeReasonFor(classify(session, at, limits));
      if (reason !== undefined) await call.close(reason);
      call.pages.firstWords.follow(session);
      // Who has said nothing yet may still do so, and goes on then: no goodbye is said to them.
      const endsAtMs = Math.min(longestEndMs(session, limits), budgets.endsAtMs(call.record.id));
      if (endsAtMs - at <= WRAP_UP_MS) call.conversation.wrapUp();
      const isHeard = call.record.state === 'open' && call.hasSideband;
      const activeMs = Math.min(HEARD_LEFT_MS, (limits.maxIdleSec * SECOND_MS) / 3);
      const isThere = isOpenedByPages && call.record.state === 'open' && reason === undefined;
      if (isThere && at - session.lastActivityAtMs >= activeMs) await sessions.noteActivity(session.id, at);
      if (isHeard && session.heardUntilMs - at < HEARD_LEFT_MS) noteHeard(session.id, at, at + HEARD_MS);
    }),
  );
}
