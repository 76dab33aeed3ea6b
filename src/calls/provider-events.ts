import type { HeldCallEvent, ResponseEvent } from '../../machines/held-call/types.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { MeteredCall } from '../metering/contract.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import { isOwnItem } from './conversation.ts';
import type { HeldCallDeps } from './deps.ts';

/** Noting activity is a write, and a session's idle time is counted in whole seconds. */
const NOTE_ACTIVITY_MS = 1000;
/** After this many messages that are too long to be read, the call is closed: with them a page could hide what it uses. */
const MAX_LONG_FRAMES = 3;
/** Nobody could see more changes of turn in a second. */
const MAX_NOTICES = 4;
const NOTICES_MS = 1000;
/** A session is told again that its visitor spoke if its record does not show that after this long. */
const TELL_AGAIN_MS = 2000;

/** What a provider reports about what is said. */
export type WordsEvent = Extract<
  UpstreamEvent,
  {
    type:
      | 'words'
      | 'speech'
      | 'inputCommitted'
      | 'transcript'
      | 'transcriptCut'
      | 'toolsAsked'
      | 'toolAnswered'
      | 'itemRemoved';
  }
>;

/** What a provider reports about responses, and about the settings that they are made with. */
type UpstreamResponseEvent = Extract<
  UpstreamEvent,
  {
    type:
      | 'responseStarted'
      | 'responseDone'
      | 'responseHeard'
      | 'conversationIdle'
      | 'responseRefused'
      | 'itemAdded'
      | 'toolCalled'
      | 'configChanged'
      | 'configRestored'
      | 'usage';
  }
>;

interface Listener {
  readonly call: CallRecord;
  readonly metered: MeteredCall;
  readonly firstWords: FirstWords;
  /** Sends to the call's machine. */
  readonly send: (event: HeldCallEvent) => void;
  /** Whether the remaining budget pays for a response beside those that are running. */
  readonly affords: (started: Extract<UpstreamEvent, { type: 'responseStarted' }>) => boolean;
  readonly tellPages: (event: WordsEvent) => void;
}

/**
 * Handles what a provider reports about a call: tells the call's machine, meters usage, keeps the session engaged while somebody speaks, and tells
 * pages who speaks.
 */
export function createEventHandler(listener: Listener, deps: HeldCallDeps): (event: UpstreamEvent) => void {
  const { call, metered, send, affords } = listener;
  const { metering, sessions, clock, running, events } = deps;
  const noticeTurn = createTurnNotices(call, deps);
  let notedAtMs = -Infinity;
  let framesTooLong = 0;

  function hearResponse(event: UpstreamResponseEvent): void {
    send(conversions[event.type](event as never, clock.now(), affords));
  }

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
    if (framesTooLong === MAX_LONG_FRAMES) send({ type: 'CLOSE', at: clock.now(), reason: 'unheard' });
  }

  return (event) => {
    if (isSignOfLife(event)) send({ type: 'ALIVE', at: clock.now() });
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
        return send({ type: 'OVER', at: clock.now(), reason: event.reason });
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
        listener.firstWords.hear(event);
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

/**
 * Whether the visitor of one held call was heard, for a session that ends soon unless they are (docs/contract.md, section 4.5). The session is told
 * at once, and again until its record says so.
 */
export class FirstWords {
  readonly #deps: HeldCallDeps;
  readonly #sessionId: string;
  #heardAtMs: number | undefined;
  #toldAtMs = -Infinity;
  #areDue = false;

  constructor(sessionId: string, deps: HeldCallDeps) {
    this.#sessionId = sessionId;
    this.#deps = deps;
  }

  /** Takes an event of the call. */
  hear(event: WordsEvent): void {
    if (this.#heardAtMs !== undefined || !areWords(event)) return;
    this.#heardAtMs = this.#deps.clock.now();
    this.#tell();
  }

  /** Takes the session's current record. */
  follow({ wordsDueAtMs }: Pick<VoiceRecord, 'wordsDueAtMs'>): void {
    this.#areDue = wordsDueAtMs > 0;
    this.#tell();
  }

  #tell(): void {
    const { running, sessions, clock } = this.#deps;
    const [heardAtMs, at] = [this.#heardAtMs, clock.now()];
    if (heardAtMs === undefined || !this.#areDue || at - this.#toldAtMs < TELL_AGAIN_MS) return;
    this.#toldAtMs = at;
    running.start((async () => sessions.noteSpoke(this.#sessionId, heardAtMs))());
  }
}

/**
 * Whether an event shows words of the visitor: they start to speak or hold the button; what they said becomes a turn or is transcribed; or they wrote
 * something. Not every call is transcribed, so speech counts without its text. Items that we add do not count.
 */
function areWords(event: WordsEvent): boolean {
  if (event.type === 'speech') return event.who === 'visitor' && event.isOn;
  if (event.type === 'transcript') return event.who === 'visitor' && !isOwnItem(event.item) && event.text.trim() !== '';
  return event.type === 'words';
}

/** Events about the connection, about us or about the end itself. */
const NO_SIGNS_OF_LIFE: ReadonlySet<UpstreamEvent['type']> = new Set(['ready', 'frameTooLong', 'trouble', 'over']);

/** Whether an event shows that the call goes on, although the provider may have said that it is over. */
function isSignOfLife({ type }: UpstreamEvent): boolean {
  return !NO_SIGNS_OF_LIFE.has(type);
}

type Conversion<T extends UpstreamResponseEvent['type']> = (
  event: Extract<UpstreamResponseEvent, { type: T }>,
  at: number,
  affords: Listener['affords'],
) => ResponseEvent;

/** The events as machines/held-call takes them. */
const conversions: { readonly [T in UpstreamResponseEvent['type']]: Conversion<T> } = {
  responseStarted: (event, at, affords) => {
    const { type: _type, ...response } = event;
    return { type: 'RESPONSE_STARTED', at, response, isAffordable: affords(event) };
  },
  responseDone: ({ id, isTold }, at) => ({ type: 'RESPONSE_DONE', at, id, isTold }),
  responseHeard: ({ id, tokens }, at) => ({ type: 'RESPONSE_HEARD', at, id, tokens }),
  usage: ({ key, tokens }, at) => ({ type: 'USAGE', at, id: key, tokens }),
  itemAdded: ({ id, tokens }, at) => ({ type: 'ITEM_ADDED', at, id, tokens }),
  conversationIdle: (_event, at) => ({ type: 'CONVERSATION_IDLE', at }),
  responseRefused: ({ isBusy, instructions }, at) => ({ type: 'RESPONSE_REFUSED', at, isBusy, instructions }),
  toolCalled: (_event, at) => ({ type: 'TOOL_CALLED', at }),
  configChanged: ({ isAsSdk }, at) => ({ type: 'CONFIG_CHANGED', at, isAsSdk }),
  configRestored: (_event, at) => ({ type: 'CONFIG_RESTORED', at }),
};
