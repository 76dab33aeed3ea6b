import { effectOf, isSecondWordDue, nextDeadline, provesOver } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
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

/** Ends the session, unless the call was lost and another call of the session followed it. */
async function endSession(record: CallRecord, at: number, { store, sessions }: CallHolder): Promise<void> {
  const { id, sessionId, createdAtMs, closeReason } = record;
  if (closeReason !== null && effectOf(closeReason) === 'ends after grace') {
    const calls = await store.ofSession(sessionId);
    const hasFollower = calls.some(
      (call) =>
        call.id !== id && call.createdAtMs >= createdAtMs && (call.state !== 'closed' || call.openedAtMs !== null),
    );
    if (hasFollower) return;
  }
  await sessions.end(sessionId, closeReason === 'tool_ended' ? 'closed_by_tool' : 'upstream_ended', at);
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
