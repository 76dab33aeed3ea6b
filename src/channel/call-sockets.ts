import type { Clock } from '../kernel/time.ts';
import { PendingAnswers } from '../kernel/async.ts';
import { ANSWER_LATE_MS, TAKEN_WITHIN_MS, type BusMessage } from '../protocol/bus.ts';
import { MAX_CALL_MESSAGE_BYTES, type CallFrame, type CallRequest } from '../protocol/call-frames.ts';
import type { Bus, BusListeners } from '../stores/bus/contract.ts';

/** How often a node repeats that it has sockets which want to hear of a call: each message holds for half a minute. */
const RENEW_MS = 10_000;

/** A socket that wants to hear of its session's call. */
interface CallSocket {
  maxMessageBytes: number | undefined;
  send(frame: CallFrame): void;
}

type StateFrame = Extract<CallFrame, { type: 'call' }>;
type Answer = Extract<BusMessage, { type: 'call.answered' }>['code'];

interface SessionSockets {
  readonly sockets: Set<CallSocket>;
  /** Tool calls that pages were asked for and nobody has answered. */
  readonly tools: Set<string>;
  /** The last known states of the session's calls that are not closed, oldest first: a former call is still being closed while the next is open. */
  readonly calls: Map<string, StateFrame>;
  /** What was last shown about tools of the server. */
  thinking: CallFrame | undefined;
  saidAtMs: number;
  /** How often to repeat the message while no call is known: the node of a new call may not hear of this session at once. */
  left: number;
}

export interface CallSocketsDeps {
  readonly bus: Pick<Bus, 'publish' | 'followed'>;
  readonly node: string;
  readonly clock: Clock;
  readonly after?: (ms: number, act: () => void) => () => void;
}

/**
 * The sockets of this node that want to hear of their sessions' calls, which other nodes may hold: what they are sent, and what they ask for
 * (docs/contract.md, section 7.6). A request that a call does not take within two seconds is never carried out.
 */
export class CallSockets {
  readonly #deps: CallSocketsDeps;
  readonly #wanting = new Map<string, SessionSockets>();
  readonly #answers: PendingAnswers<Answer>;
  readonly listeners: BusListeners = {
    'call.answered': ({ request, code }) => this.#answers.hear(request, code),
    'call.shown': (message) => this.#hearShown(message),
  };

  constructor(deps: CallSocketsDeps) {
    this.#deps = deps;
    this.#answers = new PendingAnswers(deps.after);
  }

  add(sessionId: string, socket: CallSocket): void {
    const present = this.#wanting.get(sessionId);
    const wanting = present ?? wantingNothing();
    this.#wanting.set(sessionId, wanting);
    wanting.sockets.add(socket);
    socket.maxMessageBytes = MAX_CALL_MESSAGE_BYTES;
    wanting.left = 3;
    // The call sends its state to a node once, for all of the session's sockets there.
    for (const frame of [[...wanting.calls.values()].at(-1), wanting.thinking])
      if (frame !== undefined) socket.send(frame);
    this.#say(sessionId, wanting);
  }

  remove(sessionId: string, socket: CallSocket): void {
    const wanting = this.#wanting.get(sessionId);
    if (wanting === undefined || !wanting.sockets.delete(socket) || wanting.sockets.size > 0) return;
    this.#wanting.delete(sessionId);
    this.#deps.bus.publish({ type: 'call.wanted', sessionId, node: this.#deps.node, isOn: false, tools: [] });
  }

  #hearShown({ sessionId, settled, frames }: Extract<BusMessage, { type: 'call.shown' }>): void {
    const wanting = this.#wanting.get(sessionId);
    if (wanting === undefined) return;
    for (const id of settled) wanting.tools.delete(id);
    for (const frame of frames) this.#show(sessionId, wanting, frame);
  }

  /**
   * Asks a session's call for something.
   * @param answered is called once with the outcome: null if it is done, otherwise why it never will be
   */
  ask(sessionId: string, frame: CallRequest, answered: (code: Answer) => void): void {
    const { bus, clock } = this.#deps;
    const untilMs = clock.now() + TAKEN_WITHIN_MS;
    this.#answers.ask(
      TAKEN_WITHIN_MS + ANSWER_LATE_MS,
      (request) => {
        bus.publish({ type: 'call.asked', sessionId, request, untilMs, frame });
        // Without a shared bus only this process could hear the request, and it would have answered by now.
        if (bus.followed === undefined) this.#answers.hear(request, 'CALL_NOT_OPEN');
      },
      (code = 'CALL_NOT_OPEN') => answered(code),
    );
  }

  /** Repeats what would lapse; call it about every second. */
  tick(at: number): void {
    for (const [sessionId, wanting] of this.#wanting)
      if (wanting.left > 0 || (wanting.calls.size > 0 && at - wanting.saidAtMs >= RENEW_MS))
        this.#say(sessionId, wanting);
  }

  /** Messages may have been missed: announces all sockets again. */
  resync(): void {
    for (const wanting of this.#wanting.values()) wanting.left = 1;
  }

  #show(sessionId: string, wanting: SessionSockets, frame: CallFrame): void {
    if (frame.type === 'tool') wanting.tools.add(frame.id);
    if (frame.type === 'thinking') wanting.thinking = frame;
    if (frame.type === 'call') this.#noteState(sessionId, wanting, frame);
    for (const socket of wanting.sockets) socket.send(frame);
  }

  #noteState(sessionId: string, wanting: SessionSockets, frame: StateFrame): void {
    const { calls } = wanting;
    const isNew = !calls.has(frame.call);
    wanting.left = 0;
    if (frame.state === 'closed') {
      calls.delete(frame.call);
      if (calls.size === 0) forgetAsked(wanting);
      return;
    }
    if (isNew && calls.size > 0) {
      // A call that is first heard of as it closes is a former one.
      if (frame.state === 'closing') return;
      // Nobody waits any more for what the former call has asked for.
      forgetAsked(wanting);
    }
    calls.set(frame.call, frame);
    // The node of a new call does not know about the sockets here, nor does one that has taken the call over.
    if (isNew || this.#deps.clock.now() > wanting.saidAtMs) this.#say(sessionId, wanting);
  }

  #say(sessionId: string, wanting: SessionSockets): void {
    wanting.left = Math.max(0, wanting.left - 1);
    wanting.saidAtMs = this.#deps.clock.now();
    const tools = [...wanting.tools];
    this.#deps.bus.publish({ type: 'call.wanted', sessionId, node: this.#deps.node, isOn: true, tools });
  }
}

function wantingNothing(): SessionSockets {
  return { sockets: new Set(), tools: new Set(), calls: new Map(), thinking: undefined, saidAtMs: 0, left: 0 };
}

function forgetAsked(wanting: SessionSockets): void {
  wanting.tools.clear();
  wanting.thinking = undefined;
}
