import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { Clock } from '../kernel/time.ts';
import { PendingAnswers } from '../kernel/async.ts';
import { ANSWER_LATE_MS, TAKEN_WITHIN_MS, type BusMessage } from '../protocol/bus.ts';
import type { Bus, BusListeners } from '../stores/bus/contract.ts';
import type { WhisperOutcome, Whispers } from './contract.ts';
import type { HeldCall } from './held-call.ts';
import type { CallPages } from './pages/call-pages.ts';

// What nodes ask of the calls that other nodes hold, over the bus: what pages do, words of operators, and how many responses run.

/** The current call of a session on this node. */
interface Current {
  readonly pages: CallPages;
  /** A call that another node opens in its place, of which the record here may not know yet. */
  follower: string | undefined;
}

/**
 * What pages and operators ask, over the bus, of the calls that this node holds. A request is carried out before `untilMs` or never, and the node
 * that carried it out answers. A node whose call is not open says nothing: another node may hold the session's open call. Where no node has one there
 * is no answer.
 */
export class PageRequests {
  readonly #bus: Pick<Bus, 'publish'>;
  readonly #clock: Clock;
  readonly #bySession = new Map<string, Current>();
  readonly listeners: BusListeners = {
    'call.wanted': ({ sessionId, node, isOn, tools }) => this.#bySession.get(sessionId)?.pages.want(node, isOn, tools),
    'call.asked': (message) => this.#take(message),
    'call.whisper': (message) => this.#whisper(message),
    'call.shown': (message) => this.#noteFollower(message),
  };

  constructor({ bus, clock }: { readonly bus: Pick<Bus, 'publish'>; readonly clock: Clock }) {
    this.#bus = bus;
    this.#clock = clock;
  }

  add(sessionId: string, pages: CallPages): void {
    this.#bySession.set(sessionId, { pages, follower: undefined });
  }

  remove(sessionId: string, pages: CallPages): void {
    if (this.#bySession.get(sessionId)?.pages === pages) this.#bySession.delete(sessionId);
  }

  #whisper({ sessionId, request, untilMs, text }: Extract<BusMessage, { type: 'call.whisper' }>): void {
    const pages = this.#open(sessionId, untilMs);
    if (pages !== undefined)
      this.#bus.publish({ type: 'call.whispered', request, isTold: pages.whisper(request, text) });
  }

  #take({ sessionId, request, untilMs, frame }: Extract<BusMessage, { type: 'call.asked' }>): void {
    const pages = this.#open(sessionId, untilMs);
    if (pages === undefined) return;
    this.#bus.publish({ type: 'call.answered', sessionId, request, code: pages.actions.take(frame) ?? null });
  }

  /** The session's open call; undefined where this node does not hold it, and once `untilMs` has come. */
  #open(sessionId: string, untilMs: number): CallPages | undefined {
    const current = this.#bySession.get(sessionId);
    if (current === undefined || current.follower !== undefined || this.#clock.now() >= untilMs) return undefined;
    return current.pages.isOpen ? current.pages : undefined;
  }

  /** A session opens one call at a time, so a call that is being opened elsewhere replaces the one here, unless it is given up. */
  #noteFollower({ sessionId, frames }: Extract<BusMessage, { type: 'call.shown' }>): void {
    for (const frame of frames) {
      if (frame.type !== 'call') continue;
      const current = this.#bySession.get(sessionId);
      if (current === undefined || current.pages.callId === frame.call) continue;
      if (frame.state === 'connecting') current.follower = frame.call;
      else if (frame.state !== 'open' && current.follower === frame.call) current.follower = undefined;
    }
  }
}

interface BusWhispersDeps {
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  readonly clock: Clock;
  readonly after?: (ms: number, act: () => void) => () => void;
}

/**
 * Asks whichever node holds a session's call to add words to it that only the agent reads. The words are in the message to that node and nowhere
 * else.
 */
export class BusWhispers implements Whispers {
  readonly #deps: BusWhispersDeps;
  readonly #answers: PendingAnswers<WhisperOutcome>;

  constructor(deps: BusWhispersDeps) {
    this.#deps = deps;
    this.#answers = new PendingAnswers(deps.after);
    deps.bus.subscribe({
      'call.whispered': ({ request, isTold }) => this.#answers.hear(request, isTold ? 'told' : 'not_open'),
    });
  }

  send(sessionId: string, text: string): Promise<WhisperOutcome> {
    const { bus, clock } = this.#deps;
    const untilMs = clock.now() + TAKEN_WITHIN_MS;
    return new Promise((resolve) => {
      this.#answers.ask(
        TAKEN_WITHIN_MS + ANSWER_LATE_MS,
        (request) => bus.publish({ type: 'call.whisper', sessionId, request, untilMs, text }),
        (answer = 'unanswered') => resolve(answer),
      );
    });
  }
}

/** How long to wait for the node that holds a call: an operator waits for the whole page. */
const ANSWER_MS = 500;

interface OpenResponsesDeps {
  readonly bus: Pick<Bus, 'publish' | 'followed'>;
  /** The call, where this node holds it. */
  readonly heldOf: (callId: string) => Pick<HeldCall, 'isReleased' | 'runningResponses'> | undefined;
  readonly after: (ms: number, act: () => void) => () => void;
}

/** How many responses run in calls, whichever nodes hold them. */
export class OpenResponses {
  readonly #deps: OpenResponsesDeps;
  readonly #answers: PendingAnswers<number | null>;
  readonly listeners: BusListeners = {
    'call.count': (message) => this.#count(message),
    'call.counted': ({ request, responses }) => this.#answers.hear(request, responses),
  };

  constructor(deps: OpenResponsesDeps) {
    this.#deps = deps;
    this.#answers = new PendingAnswers(deps.after);
  }

  /** @returns undefined where nobody hears the call, or its node does not answer within half a second */
  async of({ id: callId, sessionId }: Pick<CallRecord, 'id' | 'sessionId'>): Promise<number | undefined> {
    const { bus } = this.#deps;
    const held = this.#heldOf(callId);
    // Without a shared bus there are no other nodes.
    if (held !== undefined || bus.followed === undefined) return held?.runningResponses();
    return new Promise((resolve) => {
      this.#answers.ask(
        ANSWER_MS,
        (request) => bus.publish({ type: 'call.count', sessionId, callId, request }),
        (answer) => resolve(answer ?? undefined),
      );
    });
  }

  #count({ callId, request }: Extract<BusMessage, { type: 'call.count' }>): void {
    const held = this.#heldOf(callId);
    if (held === undefined) return;
    const responses = held.runningResponses() ?? null;
    this.#deps.bus.publish({ type: 'call.counted', request, responses });
  }

  #heldOf(callId: string): Pick<HeldCall, 'runningResponses'> | undefined {
    const held = this.#deps.heldOf(callId);
    return held?.isReleased === false ? held : undefined;
  }
}
