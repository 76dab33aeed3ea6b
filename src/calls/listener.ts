import type { CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import type { Running } from '../kernel/running.ts';
import type { MeteredCall, Metering } from '../metering/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import type { CallSessions } from './contract.ts';
import { createTurns, type TurnsDeps } from './turns.ts';

/** To note activity is a write, and a session's idle time is counted in whole seconds. */
const NOTE_ACTIVITY_MS = 1000;
/** So often may a page change what it may not change, or put what it uses out of hearing; then its call is closed. */
const TOO_OFTEN = 3;

export interface ListenerDeps extends TurnsDeps {
  readonly metering: Pick<Metering, 'hear'>;
  readonly sessions: Pick<CallSessions, 'noteActivity'>;
  readonly running: Running;
  readonly events: Pick<Events, 'callTrouble' | 'callEventDropped' | 'callRateLimit'>;
}

export interface Listener {
  readonly call: CallRecord;
  readonly metered: MeteredCall;
  readonly isLocked: boolean;
  /** Usage was heard. */
  readonly told: () => void;
  /** Puts the session back to what it was created with. */
  readonly restore: () => void;
  readonly close: (reason: CloseRequest) => void;
  readonly over: (reason: Extract<UpstreamEvent, { type: 'over' }>['reason']) => void;
}

/** What is done with what a provider tells of a call: usage is metered, speech keeps the session engaged and is told to its pages, a locked session is put back. */
export function createListener(listener: Listener, deps: ListenerDeps): (event: UpstreamEvent) => void {
  const { call, metered, isLocked } = listener;
  const { metering, sessions, clock, running, events } = deps;
  const tellTurn = createTurns(call, deps);
  let notedAtMs = -Infinity;
  let configChanges = 0;
  let framesTooLong = 0;

  function noteActivity(): void {
    const at = clock.now();
    if (at - notedAtMs < NOTE_ACTIVITY_MS) return;
    notedAtMs = at;
    running.start((async () => sessions.noteActivity(call.sessionId, at))());
  }

  function configChanged(): void {
    if (!isLocked) return;
    configChanges += 1;
    listener.restore();
    if (configChanges === TOO_OFTEN) listener.close('config_changed');
  }

  /** What follows such a message is not heard either, until the call is attached to again. */
  function frameTooLong(): void {
    framesTooLong += 1;
    metering.hear(metered, { type: 'usageUnreadable', key: undefined }, clock.now());
    if (framesTooLong === TOO_OFTEN) listener.close('unheard');
  }

  return (event) => {
    switch (event.type) {
      case 'activity':
        return noteActivity();
      case 'speaking':
        noteActivity();
        return tellTurn(event.type);
      case 'listening':
        return tellTurn(event.type);
      case 'usageUnreadable':
        events.callEventDropped(call.provider);
        return metering.hear(metered, event, clock.now());
      case 'usage':
        listener.told();
        noteActivity();
        return metering.hear(metered, event, clock.now());
      case 'usageTime':
      case 'usageTotal':
        return metering.hear(metered, event, clock.now());
      case 'frameTooLong':
        return frameTooLong();
      case 'configChanged':
        return configChanged();
      case 'over':
        return listener.over(event.reason);
      case 'trouble':
        return events.callTrouble(call, event.code);
      case 'rateLimit':
        return events.callRateLimit(call.provider, event.name, event.remaining);
      case 'ready':
    }
  };
}
