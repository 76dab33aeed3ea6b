import { stateAfter } from '../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { closeCode } from '../protocol/close-codes.ts';
import type { ClientFrame, ServerFrame } from '../protocol/frames.ts';
import type { Language } from '../protocol/error-translations/languages.ts';
import { languageOfTag } from '../protocol/error-translations/accept-language.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import { everySession, speaksFor, type VoiceOutcome } from '../sessions/sessions.ts';
import type { SocketUse, SocketLease } from './socket-limits.ts';
import { askCall } from './call-request-limits.ts';
import {
  attachedFrame,
  badFrame,
  endedFrame,
  faultFrame,
  heartbeatAnswer,
  toldState,
  readFrame,
  answerUsage,
  keepRating,
  endLoginOnViolation,
  resumeTokenOf,
  noteSocket,
} from './frames.ts';
import type { ConnectionContext } from './deps.ts';
import type { Socket, SocketListener } from '../kernel/socket.ts';
import { presentOr, untoldWarning, type Warning } from './warnings.ts';

type Frame<Type> = Extract<ClientFrame, { type: Type }>;

const MAX_BAD_FRAMES = 3;

/**
 * One socket of one session (docs/contract.md, section 7.2). Its frames are served one after the other, so that no answer overtakes an earlier one; a
 * fault in one socket affects no other. Each socket costs one such object, without timers or closures of its own, and a heartbeat creates no promise
 * where the engines create none: that keeps 10,000 sockets cheap.
 */
export class Connection implements SocketListener {
  attachedAtMs = 0;
  maxMessageBytes: number | undefined;
  /** The session as this socket last saw it; undefined until it is attached. */
  record: VoiceRecord | undefined;
  readonly #socket: Socket;
  readonly #address: SocketUse;
  readonly #context: ConnectionContext<Connection>;
  #language: Language;
  #sessionId: string | undefined;
  #lease: SocketLease | undefined;
  #state: VoiceState | undefined;
  /** An end that became known while the record, or an answer, was on its way. */
  #missedEnd: EndReason | null = null;
  /** The end that this socket reports itself, with the answer that it waits for; `any` where it could be any end. */
  #ownEnd: EndReason | 'any' | undefined;
  #badFrames = 0;
  #wants: readonly string[] = [];
  #isOver = false;
  /** Frames that arrived while one is being served, in order; undefined stands for a bad one. */
  #waiting: (ClientFrame | undefined)[] | undefined;
  #warned: Warning | undefined;

  /** @param address what the sockets of its address use; this connection is counted in it, and leaves it when it closes */
  constructor(socket: Socket, address: SocketUse, language: Language, context: ConnectionContext<Connection>) {
    this.#socket = socket;
    this.#address = address;
    this.#language = language;
    this.#context = context;
    context.expect(this);
  }

  message(text: string): void {
    const at = this.#context.deps.clock.now();
    if (this.#spend(at)) this.#take(readFrame(text), at);
  }

  binary(): void {
    const at = this.#context.deps.clock.now();
    if (this.#spend(at)) this.#take(undefined, at);
  }

  ping(): void {
    this.#spend(this.#context.deps.clock.now());
  }

  closed(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    noteSocket(this.record, 'detached', { code }, this.#context.deps);
    this.#waiting?.splice(0);
    this.#context.remove(this.#sessionId, this);
    this.#context.addresses.leave(this.#address);
    if (this.#lease !== undefined) this.#context.socketLeases.leave(this.#lease);
  }

  /** Closes the socket, once. */
  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.closed(code);
    this.#socket.close(code, reason);
  }

  /** Tells the client about a transition, wherever it happened; each is told once. */
  push(state: VoiceState, endReason: EndReason | null): void {
    const isOwn = endReason !== null && (this.#ownEnd === 'any' || this.#ownEnd === endReason);
    if (this.record === undefined || isOwn) {
      this.#state = state;
      this.#missedEnd = endReason;
    } else if (endReason !== null) this.#tellEnd(endReason);
    else if (state !== this.#state) {
      this.#state = state;
      this.send({ type: 'state', state });
    }
  }

  /** Warns the client when its session is about to end; call it about every second. */
  warn(at: number): void {
    const record = this.record;
    if (record === undefined || this.#untold(record, at) === undefined) return;
    // A heartbeat over HTTP or another socket may have moved the end: the current record decides whether the warning is due.
    void andThen(presentOr(record, this.#context.deps.sessions), (present) => this.#warnOf(present, at));
  }

  /** Warns an attached client that its session is about to end, or that it nears its ceiling. */
  sendWarning(reason: 'duration' | 'idle' | 'quota', secondsLeft?: number): void {
    if (this.record === undefined) return;
    this.send({ type: 'warning', reason, secondsLeft });
    noteSocket(this.record, 'warned', { limit: reason, secondsLeft: secondsLeft ?? null }, this.#context.deps);
  }

  /** Closes a socket that does not read: a frame is never dropped silently. */
  send(frame: ServerFrame): void {
    this.#sendText(JSON.stringify(frame));
  }

  #sendText(text: string): void {
    if (!this.#isOver && this.#socket.send(text) === 'dropped')
      this.close(closeCode.overloaded, 'the socket does not read');
  }

  #spend(at: number): boolean {
    if (this.#isOver) return false;
    const { addresses, sessions } = this.#context;
    const isPaid = addresses.spend(this.#address, at) && (!this.#lease || sessions.spend(this.#lease.use, at));
    if (!isPaid) this.close(closeCode.tooMany, 'too many frames');
    return isPaid;
  }

  #take(frame: ClientFrame | undefined, at: number): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(frame);
    const work = this.#serve(frame, at);
    if (work instanceof Promise) void this.#serveWaiting(work, (this.#waiting = []));
  }

  async #serveWaiting(work: Promise<void>, waiting: (ClientFrame | undefined)[]): Promise<void> {
    await work;
    while (waiting.length > 0) await this.#serve(waiting.shift(), this.#context.deps.clock.now());
    this.#waiting = undefined;
  }

  /** Never throws and never rejects. */
  #serve(frame: ClientFrame | undefined, at: number): Eventually<void> {
    if (this.#isOver) return;
    if (frame === undefined) return this.#refuseFrame();
    try {
      const work = this.#answer(frame, at);
      return work instanceof Promise ? work.catch((fault: unknown) => this.#fail(fault, frame)) : work;
    } catch (fault) {
      this.#fail(fault, frame);
    }
  }

  #answer(frame: ClientFrame, at: number): Eventually<void> {
    const record = this.record;
    if (frame.type === 'attach') return record === undefined ? this.#attach(frame, at) : this.#refuseFrame();
    if (record === undefined) return this.#refuseFrame();
    if (frame.type === 'heartbeat') return this.#heartbeat(record, frame, at);
    if (frame.type === 'usage') return this.#usage(record, frame, at);
    if (frame.type === 'end') return this.#end(record, at);
    if (frame.type === 'rate') return keepRating(record, frame.value, at, this.#context.deps);
    return askCall({ record, language: this.#language, send: (answer) => this.send(answer) }, frame, this.#context);
  }

  #attach({ sm_session_id, email, language = '', wants = [] }: Frame<'attach'>, at: number): Eventually<void> {
    this.attachedAtMs = at;
    this.#wants = wants;
    this.#language = languageOfTag(language) ?? this.#language;
    const { deps, socketLeases } = this.#context;
    // Listens before it reads, so that no transition is missed between the two.
    this.#sessionId = sm_session_id;
    this.#context.add(sm_session_id, this);
    return andThen(deps.sessions.find(sm_session_id), (record) => {
      if (this.#isOver) return;
      if (record === undefined || !speaksFor(record, email, deps.identity.subjects))
        return this.close(closeCode.unknownSession, 'unknown session');
      if (record.endReason !== null) return this.#answerEnd(record, record.endReason);
      return andThen(socketLeases.take(record.id, at), (lease) =>
        andThen(lease && resumeTokenOf(record, wants, deps), (resume) => this.#attached(record, lease, at, resume)),
      );
    });
  }

  #attached(record: VoiceRecord, lease: SocketLease | undefined, at: number, resume?: string): Eventually<void> {
    const { calls, deps, socketLeases, sessions } = this.#context;
    if (lease === undefined) return this.close(closeCode.tooMany, 'too many sockets of this session');
    if (this.#isOver) return socketLeases.leave(lease);
    this.#lease = lease;
    if (this.#missedEnd !== null) return this.#answerEnd(record, this.#missedEnd);
    // The bucket of the address has already paid for this frame.
    if (!sessions.spend(lease.use, at)) return this.close(closeCode.tooMany, 'too many frames');
    this.record = record;
    this.#state ??= toldState(record, at, deps);
    this.send(attachedFrame(record, this.#state, at, resume, deps));
    noteSocket(record, 'attached', {}, deps);
    if (this.#wants.includes('call')) calls.add(record.id, this);
  }

  #heartbeat({ id }: VoiceRecord, frame: Frame<'heartbeat'>, at: number): Eventually<void> {
    const beating = this.#context.deps.sessions.heartbeat(id, at, frame.idleSec, everySession);
    if (beating instanceof Promise) return beating.then((outcome) => this.#answerHeartbeat(outcome, frame, at));
    return this.#answerHeartbeat(beating, frame, at);
  }

  #answerHeartbeat(outcome: VoiceOutcome | undefined, { id }: Frame<'heartbeat'>, at: number): Eventually<void> {
    if (outcome === undefined) return this.close(closeCode.unknownSession, 'unknown session');
    const { record, facts } = outcome;
    this.record = record;
    for (const fact of facts) if (fact.type !== 'session.ended') this.push(stateAfter(fact), null);
    if (record.endReason !== null) return this.#answerEnd(record, record.endReason);
    this.#state = 'engaged';
    this.#sendText(heartbeatAnswer(record, at, id));
  }

  /** The client gets the answer to its report before it hears of an end that the report caused. */
  async #usage(record: VoiceRecord, frame: Frame<'usage'>, at: number): Promise<void> {
    this.#ownEnd = 'any';
    try {
      const from = { address: this.#address.name, language: this.#language };
      const { answer, endReason } = await answerUsage(record, frame, from, at, this.#context.deps);
      if (answer !== undefined) this.send(answer);
      if (endReason !== null) await this.#answerEnd(record, endReason);
    } finally {
      this.#ownEnd = undefined;
      if (this.#missedEnd !== null) this.#tellEnd(this.#missedEnd);
    }
  }

  /** The client that asks for an end hears of it once it is kept, or of a fault, and not by the push that all others get. */
  async #end({ id }: VoiceRecord, at: number): Promise<void> {
    this.#ownEnd = 'closed_by_client';
    const ended = (await this.#context.deps.sessions.endForGood(id, 'closed_by_client', at))?.record;
    if (ended) this.#context.deps.suspects.noteEnd(ended, this.#address.name, at);
    this.#tellEnd(ended?.endReason ?? 'closed_by_client');
  }

  #answerEnd(record: VoiceRecord, reason: EndReason): Eventually<void> {
    this.#tellEnd(reason);
    return endLoginOnViolation(record, reason, this.#context.deps);
  }

  #tellEnd(reason: EndReason): void {
    this.send(endedFrame(reason, this.#language, this.#context.deps));
    this.close(closeCode.sessionOver, reason);
  }

  #untold(record: VoiceRecord, at: number): Warning | undefined {
    if (this.#state !== 'engaged') return undefined;
    return untoldWarning(record, at, this.#context.deps.sessions.limits, this.#warned);
  }

  #warnOf(record: VoiceRecord, at: number): void {
    this.record = record;
    const warning = this.#untold(record, at);
    if (warning === undefined) return;
    this.#warned = warning;
    this.sendWarning(warning.reason, warning.secondsLeft);
  }

  #refuseFrame(): void {
    this.send(badFrame(this.#language));
    if ((this.#badFrames += 1) >= MAX_BAD_FRAMES) this.close(closeCode.badFrames, 'bad frames');
  }

  /** The socket stays open: the client may send the frame again, and if it has not attached yet, it has another five seconds. */
  #fail(fault: unknown, frame: ClientFrame): void {
    this.#context.deps.events.faulted(fault, undefined, 'channel');
    this.send(faultFrame(fault, frame, this.#language));
    if (frame.type !== 'attach' || this.#isOver) return;
    this.#context.remove(this.#sessionId, this);
    this.#sessionId = undefined;
    this.#state = undefined;
    this.#missedEnd = null;
    this.#context.expect(this);
  }
}
