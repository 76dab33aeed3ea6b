import { effectOf, nextDeadline } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallFact, CallRecord } from '../../machines/voice-call/types.ts';
import type { Host } from '../actors/host.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Metering } from '../metering/contract.ts';
import type { VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { CallSessions } from './contract.ts';
import type { HeldCall } from './held-call.ts';
import type { EndingListener, HangUps } from './hang-ups.ts';

export interface DueDeps {
  readonly store: Pick<CallStore, 'ofSession'>;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly sessions: Pick<CallSessions, 'end'>;
  readonly hangUps: HangUps;
  readonly metering: Pick<Metering, 'flushCall'>;
  readonly clock: Clock;
  /** The call where this node holds it. */
  readonly heldOf: (callId: string) => (EndingListener & Pick<HeldCall, 'settleUsage' | 'note'>) | undefined;
}

/**
 * Does what a call of this node is due for: ends its session, moves it by the clock, asks for its hang-up. Each is done before it is
 * noted, so that a node that dies between leaves it to the next. @throws Unavailable
 */
export async function actOnDue(record: CallRecord, deps: DueDeps): Promise<void> {
  const { host, clock } = deps;
  const at = clock.now();
  if (nextDeadline(record) > at) return;
  if (at >= (record.graceUntilMs ?? Infinity)) await endSession(record, at, deps);
  const outcome = await host.send(record.id, { type: 'CLOCK', at }, ({ fence }) => fence === record.fence);
  if (outcome !== undefined) hangUp(outcome.record, at, deps);
}

/** Unless another call followed one that was lost. */
async function endSession(record: CallRecord, at: number, { store, sessions }: DueDeps): Promise<void> {
  const { id, sessionId, createdAtMs, closeReason } = record;
  if (closeReason !== null && effectOf(closeReason) === 'ends after grace') {
    const calls = await store.ofSession(sessionId);
    const hasFollower = calls.some(
      (call) =>
        call.id !== id && call.createdAtMs >= createdAtMs && (call.state !== 'closed' || call.openedAtMs !== null),
    );
    if (hasFollower) return;
  }
  await sessions.end(sessionId, 'upstream_ended', at);
}

function hangUp(call: CallRecord, at: number, { host, hangUps, metering, clock, heldOf }: DueDeps): void {
  const { id, provider, providerCallId, state, fence } = call;
  if (state !== 'closing' || providerCallId === null || at < (call.nextTryAtMs ?? Infinity)) return;
  // A call that was not hung up yet may have spoken again; a confirmation finds it silent.
  const held = heldOf(id);
  const listener: EndingListener = {
    quieten: async () => (call.hangup === 'none' ? held?.quieten() : undefined),
    hear: (event) => held?.hear(event),
  };
  hangUps.start({ id, provider, providerCallId }, listener, async (answer) => {
    // Of a call that is over nobody marks what was not counted.
    if (answer === 'already_over' || (answer === 'asked' && call.hangup === 'asked'))
      await (held?.settleUsage() ?? metering.flushCall(id));
    const isOurs = (present: CallRecord): boolean => present.fence === fence;
    const outcome = await host.send(id, { type: 'HANGUP_ANSWERED', at: clock.now(), answer }, isOurs);
    if (outcome !== undefined) held?.note(outcome.record);
  });
}
