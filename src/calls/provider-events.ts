import type { CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import type { MeteredCall } from '../metering/contract.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import type { HeldCallDeps } from './deps.ts';
import type { WordsEvent } from './pages/call-pages.ts';
import type { UpstreamResponseEvent } from './response-events.ts';

/** Noting activity is a write, and a session's idle time is counted in whole seconds. */
const NOTE_ACTIVITY_MS = 1000;
/** After this many messages that are too long to be read, the call is closed: with them a page could hide what it uses. */
const MAX_LONG_FRAMES = 3;
/** Nobody could see more changes of turn in a second. */
const MAX_NOTICES = 4;
const NOTICES_MS = 1000;

interface Listener {
  readonly call: CallRecord;
  readonly metered: MeteredCall;
  readonly hearResponse: (event: UpstreamResponseEvent) => void;
  readonly tellPages: (event: WordsEvent) => void;
  readonly close: (reason: CloseRequest) => void;
  readonly over: (reason: Extract<UpstreamEvent, { type: 'over' }>['reason']) => void;
}

/**
 * Handles what a provider reports about a call: meters usage, keeps the session engaged while somebody speaks, tells pages who speaks, and guards
 * responses.
 */
export function createEventHandler(listener: Listener, deps: HeldCallDeps): (event: UpstreamEvent) => void {
  const { call, metered, hearResponse } = listener;
  const { metering, sessions, clock, running, events } = deps;
  const noticeTurn = createTurnNotices(call, deps);
  let notedAtMs = -Infinity;
  let framesTooLong = 0;

  function noteActivity(): void {
    const at = clock.now();
    if (at - notedAtMs < NOTE_ACTIVITY_MS) return;
    notedAtMs = at;
    running.start((async () => sessions.noteActivity(call.sessionId, at))());
  }

  /** Nothing after such a message is heard either, until the call is attached to again. */
  function frameTooLong(): void {
    framesTooLong += 1;
    metering.hear(metered, { type: 'usageUnreadable', key: undefined }, clock.now());
    if (framesTooLong === MAX_LONG_FRAMES) listener.close('unheard');
  }

  return (event) => {
    switch (event.type) {
      case 'activity':
        return noteActivity();
      case 'speaking':
        noteActivity();
        return noticeTurn(event.type);
      case 'listening':
        return noticeTurn(event.type);
      case 'usageUnreadable':
        events.callEventDropped(call.provider);
        return metering.hear(metered, event, clock.now());
      case 'usage':
        if (event.model === undefined) hearResponse(event);
        noteActivity();
        return metering.hear(metered, event, clock.now());
      case 'usageTime':
      case 'usageTotal':
        return metering.hear(metered, event, clock.now());
      case 'frameTooLong':
        return frameTooLong();
      case 'responseStarted':
      case 'responseDone':
      case 'responseHeard':
      case 'conversationIdle':
      case 'responseRefused':
      case 'itemAdded':
      case 'toolCalled':
      case 'configChanged':
      case 'configRestored':
        return hearResponse(event);
      case 'over':
        return listener.over(event.reason);
      case 'trouble':
        return events.callTrouble(call, event.code);
      case 'rateLimit':
        return events.callRateLimit(call.provider, event.name, event.remaining);
      case 'words':
      case 'speech':
      case 'inputCommitted':
      case 'transcript':
      case 'transcriptCut':
      case 'toolsAsked':
      case 'toolAnswered':
      case 'itemRemoved':
        return listener.tellPages(event);
      case 'ready':
    }
  };
}

/**
 * Tells the clients of a call who speaks (docs/contract.md, section 7.3): only changes, and at most four a second. A change that is left out is told
 * when the provider reports it again.
 */
function createTurnNotices(
  { id: callId, sessionId }: Pick<CallRecord, 'id' | 'sessionId'>,
  { bus, clock }: Pick<HeldCallDeps, 'bus' | 'clock'>,
): (event: 'speaking' | 'listening') => void {
  let last: string | undefined;
  let windowFromMs = -Infinity;
  let told = 0;

  return (event) => {
    if (event === last) return;
    const at = clock.now();
    if (at - windowFromMs >= NOTICES_MS) {
      windowFromMs = at;
      told = 0;
    }
    if (told === MAX_NOTICES) return;
    told += 1;
    last = event;
    bus.publish({ type: 'call.told', sessionId, callId, event });
  };
}

/** Events about the connection, about us or about the end itself. */
const NO_SIGNS_OF_LIFE: ReadonlySet<UpstreamEvent['type']> = new Set(['ready', 'frameTooLong', 'trouble', 'over']);

/** Whether an event shows that the call goes on, although the provider may have said that it is over. */
export function isSignOfLife({ type }: UpstreamEvent): boolean {
  return !NO_SIGNS_OF_LIFE.has(type);
}
