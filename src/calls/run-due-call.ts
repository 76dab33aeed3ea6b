import { awaitedUntilMs, isSecondWordDue, nextDeadline, provesOver } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
import { classify } from '../../machines/voice-session/selectors.ts';
import type { CallHolder } from './call-holder.ts';
import type { HangUpListener } from './hang-ups.ts';

/**
 * Does what a call of this node is due for: ends its session, moves it by the clock, asks for its hang-up. Each is done before it is saved, so that
 * if this node dies in between, the next one does it again.
 * @throws Unavailable
 */
export async function runDueCall(record: CallRecord, deps: CallHolder): Promise<void> {
  const { host, clock } = deps;
  const at = clock.now();
  if (nextDeadline(record) > at) return;
  if (at >= (record.graceUntilMs ?? Infinity)) await endSession(record, at, deps);
  const clockEvent: CallEvent = { type: 'CLOCK', at };
  const isGivenUp = record.state === 'closing' && at >= (record.giveUpAtMs ?? Infinity);
  if (isGivenUp || provesOver(record, clockEvent)) await settleUsage(record.id, deps);
  const outcome = await host.send(record.id, clockEvent, ({ fence }) => fence === record.fence);
  if (outcome !== undefined) hangUp(outcome.record, at, deps);
}

/** Ends the session, unless it goes on after the loss of the call. */
async function endSession(record: CallRecord, at: number, deps: CallHolder): Promise<void> {
  if (awaitedUntilMs(record) !== null && (await goesOn(record, at, deps))) return;
  const { sessionId, closeReason } = record;
  await deps.sessions.end(sessionId, closeReason === 'tool_ended' ? 'closed_by_tool' : 'upstream_ended', at);
}

/** Whether another call of the session followed, or its next page may still open one: then the session waits for that. */
async function goesOn(record: CallRecord, at: number, deps: CallHolder): Promise<boolean> {
  const { store, sessions, voiceLimits, resumeTokens, holds, host, perSession } = deps;
  const { id, sessionId, createdAtMs, closingAtMs, closedAtMs, graceUntilMs, fence } = record;
  const session = await sessions.find(sessionId);
  const isEngaged = session !== undefined && classify(session, at, voiceLimits) === 'engaged';
  const next = isEngaged ? await resumeTokens.nextPageOf(session, closingAtMs ?? closedAtMs ?? at, at) : undefined;
  // Read after the token: a page that has just used it has first made this call wait for longer.
  const calls = await store.ofSession(sessionId);
  const hasFollower = calls.some((call) =>
    call.id === id
      ? call.graceUntilMs !== graceUntilMs
      : call.createdAtMs >= createdAtMs && (call.state !== 'closed' || call.openedAtMs !== null),
  );
  if (hasFollower) return true;
  if (next === undefined || next.untilMs <= at || calls.length >= perSession) return false;
  // A session without a page uses nothing.
  if (next.hasLeft) await holds.releaseWaiting(record);
  // If a page has resumed the session meanwhile, the call waits for that page's call, and no longer.
  const waitsAsRead = (present: CallRecord): boolean =>
    present.fence === fence && present.graceUntilMs === graceUntilMs;
  await host.send(id, { type: 'AWAITED', at, untilMs: next.untilMs }, waitsAsRead);
  return true;
}

/** Counts usage before the call is over: afterwards nobody marks what was not counted. */
async function settleUsage(id: string, { metering, heldOf }: CallHolder): Promise<void> {
  await (heldOf(id)?.settleUsage() ?? metering.flushCall(id));
}

function hangUp(call: CallRecord, at: number, deps: CallHolder): void {
  const { host, hangUps, clock, heldOf } = deps;
  const { id, providerCallId, state, fence, hangup, hangupTries, overDoor } = call;
  if (state !== 'closing' || providerCallId === null || at < (call.nextTryAtMs ?? Infinity)) return;
  // A call that was not hung up may have spoken again; the try that confirms the first hang-up finds it silent.
  const held = heldOf(id);
  const listener: HangUpListener = {
    cancelSpeech: async () => (hangup === 'none' || hangupTries > 1 ? held?.cancelSpeech() : undefined),
    hear: (event) => held?.hear(event),
  };
  const isDialledToo = hangup !== 'asked' && overDoor === 'hangup' && isSecondWordDue(call, at);
  hangUps.start({ ...call, providerCallId, isDialledToo }, listener, async (answer) => {
    const isLeft = held?.isLeft ?? false;
    const event: CallEvent = { type: 'HANGUP_ANSWERED', at: clock.now(), ...answer, isLeft };
    const isSettled = provesOver(call, event);
    if (isSettled) await settleUsage(id, deps);
    // If another node's answer settles the call together with this one, the next look finds that.
    const mayTell = (present: CallRecord): boolean =>
      present.fence === fence && (isSettled || !provesOver(present, event));
    const outcome = await host.send(id, event, mayTell);
    if (outcome !== undefined) held?.applyRecord(outcome.record);
  });
}
