import type { AnyStateMachine, EventObject, StateValue } from 'xstate';
import { createAuthSessionMachine } from '../../machines/auth-session/machine.ts';
import type { AuthEvent, AuthRecord } from '../../machines/auth-session/types.ts';
import { otpChallengeMachine } from '../../machines/otp-challenge/machine.ts';
import type { ChallengeEvent, ChallengeRecord } from '../../machines/otp-challenge/types.ts';
import { createVoiceCallMachine } from '../../machines/voice-call/machine.ts';
import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import { stateValue } from '../../machines/voice-session/selectors.ts';
import type { VoiceEvent, VoiceRecord } from '../../machines/voice-session/types.ts';
import { createHost, type HostedRecord } from '../../src/actors/host.ts';
import type { TracedEvent } from '../../src/actors/trace.ts';
import { viewOfEvent } from '../../src/operators/journal/view.ts';
import { transitionOf, type HostedRecords } from '../../src/operators/journal/events.ts';
import type { OperatorEvent } from '../../src/protocol/operator/event.ts';
import { limits as callLimits } from '../machines/voice-call-support.ts';
import { defaults as voiceLimits } from '../machines/voice-session-support.ts';

interface Kind<R> {
  readonly machine: AnyStateMachine;
  readonly stateOf: (record: R) => StateValue;
}

/** What operators see of an actor that is opened with the first event and then sent the others; newest first. */
async function record<R extends HostedRecord>(
  { machine, stateOf }: Kind<R>,
  [opening, ...events]: readonly EventObject[],
): Promise<OperatorEvent[]> {
  const told: OperatorEvent[] = [];
  const records = new Map<string, R>();
  const host = createHost<R, EventObject, EventObject>({
    machine,
    stateOf,
    store: {
      load: (id) => records.get(id),
      save: (record) => records.set(record.id, record).has(record.id),
    },
    trace(traced) {
      const event = transitionOf(traced as unknown as TracedEvent<HostedRecords>, 'node');
      if (event !== undefined) told.unshift(viewOfEvent(event, String(100 + told.length)));
    },
  });
  if (opening === undefined) throw new Error('nothing opens it');
  const opened = host.open(opening);
  records.set(opened.id, opened);
  for (const event of events) await host.send(opened.id, event);
  return told;
}

export function recordSession(events: readonly VoiceEvent[]): Promise<OperatorEvent[]> {
  const stateOf = (one: VoiceRecord): StateValue => stateValue(one, voiceLimits);
  return record({ machine: createVoiceSessionMachine(voiceLimits), stateOf }, events);
}

export function recordCall(events: readonly CallEvent[]): Promise<OperatorEvent[]> {
  return record({ machine: createVoiceCallMachine(callLimits), stateOf: ({ state }: CallRecord) => state }, events);
}

export function recordChallenge(events: readonly ChallengeEvent[]): Promise<OperatorEvent[]> {
  return record(
    { machine: otpChallengeMachine, stateOf: ({ outcome }: ChallengeRecord) => outcome ?? 'pending' },
    events,
  );
}

export function recordLogin(events: readonly AuthEvent[]): Promise<OperatorEvent[]> {
  const stateOf = ({ destroyedAtMs }: AuthRecord): StateValue => (destroyedAtMs === null ? 'active' : 'destroyed');
  return record({ machine: createAuthSessionMachine({ expiryHours: 24, absoluteHours: 0 }), stateOf }, events);
}
