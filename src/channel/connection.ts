import { classify, savedState, stateAfter } from '../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import { codes, Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import { speaksFor } from '../voice/proof.ts';
import { endedRefusal, viewOf } from '../voice/view.ts';
import type { FrameBudget } from './frame-budget.ts';
import { heartbeatAnswer } from './heartbeat-answer.ts';
import type { ChannelParts } from './parts.ts';
import type { ClientFrame, ServerFrame } from './protocol.ts';
import { readFrame } from './read-frame.ts';
import { closeCode, type Socket, type SocketListener } from './socket.ts';
import { answerUsage } from './usage-answer.ts';
import { payForViolation } from './violation.ts';
import { warningAt } from './warnings.ts';

/** What the connections of a node share. */
export interface Channel {
  readonly parts: ChannelParts;
  readonly budget: FrameBudget;
  /** The instant that budgets count from. */
  readonly budgetEpochMs: number;
  /** The connection must attach within five seconds. */
  expect(connection: Connection): void;
  /** From now on it hears what happens to the session. */
  add(sessionId: string, connection: Connection): void;
  /** It hears nothing any more, and need not attach. */
  remove(sessionId: string | undefined, connection: Connection): void;
}

type Frame<Type> = Extract<ClientFrame, { type: Type }>;

const MAX_BAD_FRAMES = 3;

/**
 * One socket of one session (contract section 7). Its frames are served one after the other, so that no answer overtakes
 * an earlier one; a fault in one socket touches no other. There is one object of this for each socket, without timers and
 * closures of its own, and a heartbeat makes no promise where the engines make none: both are what 10,000 sockets cost.
 */
export class Connection implements SocketListener {
  readonly #socket: Socket;
  readonly #channel: Channel;
  #sessionId: string | undefined;
  #record: VoiceRecord | undefined;
  #state: VoiceState | undefined;
  /** An end that became known while the record, or the answer to a report, was on its way. */
  #missedEnd: EndReason | null = null;
  #isReporting = false;
  #badFrames = 0;
  #isOver = false;
  /** Frames that came while one takes its time, in order; undefined stands for a bad one. */
  #waiting: (ClientFrame | undefined)[] | undefined;
  #budgetFullAtMs = 0;
  #warnedEndAtMs = 0;
  #warnedSec = 0;

  constructor(socket: Socket, channel: Channel) {
    this.#socket = socket;
    this.#channel = channel;
    channel.expect(this);
  }

  /** The session as this socket last saw it; undefined until it is attached. */
  get record(): VoiceRecord | undefined {
    return this.#record;
  }

  message(text: string): void {
    const at = this.#channel.parts.clock.now();
    if (this.#isOver || !this.#spend(at)) return;
    this.#take(readFrame(text), at);
  }

  binary(): void {
    const at = this.#channel.parts.clock.now();
    if (this.#isOver || !this.#spend(at)) return;
    this.#take(undefined, at);
  }

  ping(): void {
    if (!this.#isOver) this.#spend(this.#channel.parts.clock.now());
  }

  closed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting?.splice(0);
    this.#channel.remove(this.#sessionId, this);
  }

  /** Closes the socket once; later calls change nothing. */
  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.closed();
    this.#socket.close(code, reason);
  }

  /** Tells the client of a transition that happened anywhere; each is told once. */
  push(state: VoiceState, endReason: EndReason | null): void {
    if (this.#record === undefined || (this.#isReporting && endReason !== null)) {
      this.#state = state;
      this.#missedEnd = endReason;
    } else if (endReason !== null) this.#tellEnd(endReason);
    else if (state !== this.#state) {
      this.#state = state;
      this.send({ type: 'state', state });
    }
  }

  /** Warns the client when its session is about to end; to be asked about every second. */
  warn(at: number): void {
    const record = this.#record;
    if (record === undefined || this.#state !== 'engaged' || this.#dueWarning(record, at) === undefined) return;
    // A heartbeat over HTTP or another socket may have moved the end: the warning is due only if the present record says so.
    // Where that cannot be read, the known record is the best guess.
    const present = this.#channel.parts.sessions.find(record.id);
    if (present instanceof Promise) void present.catch(() => record).then((found) => this.#warnOf(found ?? record, at));
    else this.#warnOf(present ?? record, at);
  }

  /** A socket that does not read is closed: a frame is never dropped silently. */
  send(frame: ServerFrame): void {
    this.#sendText(JSON.stringify(frame));
  }

  #sendText(text: string): void {
    if (!this.#isOver && this.#socket.send(text) === 'dropped')
      this.close(closeCode.overloaded, 'the socket does not read');
  }

  #spend(at: number): boolean {
    const { budget, budgetEpochMs } = this.#channel;
    const fullAtMs = budget.spend(this.#budgetFullAtMs, at - budgetEpochMs);
    if (fullAtMs === undefined) this.close(closeCode.tooManyFrames, 'too many frames');
    else this.#budgetFullAtMs = fullAtMs;
    return fullAtMs !== undefined;
  }

  #take(frame: ClientFrame | undefined, at: number): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(frame);
      return;
    }
    const work = this.#serve(frame, at);
    if (!(work instanceof Promise)) return;
    this.#waiting = [];
    void this.#serveWaiting(work, this.#waiting);
  }

  async #serveWaiting(work: Promise<void>, waiting: (ClientFrame | undefined)[]): Promise<void> {
    await work;
    while (waiting.length > 0) await this.#serve(waiting.shift(), this.#channel.parts.clock.now());
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
    const record = this.#record;
    if (frame.type === 'attach') return record === undefined ? this.#attach(frame) : this.#refuseFrame();
    if (record === undefined) return this.#refuseFrame();
    switch (frame.type) {
      case 'heartbeat':
        return this.#heartbeat(record, frame, at);
      case 'usage':
        return this.#usage(record, frame, at);
      case 'end':
        return this.#end(record, at);
    }
  }

  #attach({ sm_session_id, email }: Frame<'attach'>): Eventually<void> {
    const { sessions, subjects } = this.#channel.parts;
    // It listens before it reads, so that no transition falls between the two.
    this.#sessionId = sm_session_id;
    this.#channel.add(sm_session_id, this);
    return andThen(sessions.find(sm_session_id), (record) => {
      if (this.#isOver) return;
      if (record === undefined || !speaksFor(record, email, subjects))
        return this.close(closeCode.unknownSession, 'unknown session');
      const endReason = record.endReason ?? this.#missedEnd;
      if (endReason !== null) return this.#answerEnd(record, endReason);
      this.#attached(record);
    });
  }

  #attached(record: VoiceRecord): void {
    const { sessions, clock, heartbeatIntervalSec } = this.#channel.parts;
    const { maxMinutes, maxIdleSec } = sessions.limits;
    const at = clock.now();
    const state = classify(record, at, sessions.limits);
    this.#record = record;
    // An end that is due but has not happened yet has no reason to tell: the sweep makes it, and it is pushed.
    this.#state ??= state === 'ended' ? savedState(record, sessions.limits) : state;
    this.send({
      type: 'attached',
      session: viewOf(record, at),
      state: this.#state,
      heartbeat: { intervalSec: heartbeatIntervalSec },
      limits: { maxMinutes, maxIdleSec },
    });
  }

  #heartbeat(session: VoiceRecord, { id, idleSec }: Frame<'heartbeat'>, at: number): Eventually<void> {
    return andThen(this.#channel.parts.sessions.heartbeat(session.id, at, idleSec, anybody), (outcome) => {
      if (outcome === undefined) return this.close(closeCode.unknownSession, 'unknown session');
      const { record, facts } = outcome;
      this.#record = record;
      for (const fact of facts) if (fact.type !== 'session.ended') this.push(stateAfter(fact), null);
      if (record.endReason !== null) return this.#answerEnd(record, record.endReason);
      this.#state = 'engaged';
      this.#sendText(heartbeatAnswer(record, at, id));
    });
  }

  /** The client hears what became of its report before it hears of an end that the report brought. */
  async #usage(record: VoiceRecord, frame: Frame<'usage'>, at: number): Promise<void> {
    this.#isReporting = true;
    try {
      const { answer, endReason } = await answerUsage(record, frame, at, this.#channel.parts);
      if (answer !== undefined) this.send(answer);
      if (endReason !== null) await this.#answerEnd(record, endReason);
    } finally {
      this.#isReporting = false;
      if (this.#missedEnd !== null) this.#tellEnd(this.#missedEnd);
    }
  }

  #end({ id }: VoiceRecord, at: number): Eventually<void> {
    return andThen(this.#channel.parts.sessions.end(id, 'closed_by_client', at), (outcome) => {
      this.#tellEnd(outcome?.record.endReason ?? 'closed_by_client');
    });
  }

  #answerEnd(record: VoiceRecord, reason: EndReason): Eventually<void> {
    this.#tellEnd(reason);
    return payForViolation(record, reason, this.#channel.parts);
  }

  #tellEnd(reason: EndReason): void {
    const { maxMinutes } = this.#channel.parts.sessions.limits;
    const { code, userMessage } = endedRefusal(reason, maxMinutes);
    this.send({ type: 'ended', code, reason, userMessage, maxMinutes });
    this.close(closeCode.sessionOver, reason);
  }

  #dueWarning(record: VoiceRecord, at: number): ReturnType<typeof warningAt> {
    const warning = warningAt(record, at, this.#channel.parts.sessions.limits);
    const isTold = warning?.endAtMs === this.#warnedEndAtMs && this.#warnedSec <= warning.thresholdSec;
    return isTold ? undefined : warning;
  }

  #warnOf(record: VoiceRecord, at: number): void {
    this.#record = record;
    const warning = this.#dueWarning(record, at);
    if (warning === undefined || this.#state !== 'engaged') return;
    this.#warnedEndAtMs = warning.endAtMs;
    this.#warnedSec = warning.thresholdSec;
    this.send({ type: 'warning', reason: warning.reason, secondsLeft: warning.secondsLeft });
  }

  #refuseFrame(): void {
    this.#badFrames += 1;
    this.send({ type: 'error', code: 'INVALID_REQUEST', userMessage: codes.INVALID_REQUEST.userMessage });
    if (this.#badFrames >= MAX_BAD_FRAMES) this.close(closeCode.badFrames, 'bad frames');
  }

  /** The socket stays: the client may try the frame again. */
  #fail(fault: unknown, frame: ClientFrame): void {
    this.#channel.parts.events.faulted(fault, undefined, 'channel');
    const code = fault instanceof Unavailable ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR';
    this.send({ type: 'error', code, userMessage: codes[code].userMessage, id: 'id' in frame ? frame.id : undefined });
    if (frame.type === 'attach') this.#detach();
  }

  /** It could not attach and has five seconds again. */
  #detach(): void {
    if (this.#isOver) return;
    this.#channel.remove(this.#sessionId, this);
    this.#sessionId = undefined;
    this.#state = undefined;
    this.#missedEnd = null;
    this.#channel.expect(this);
  }
}

/** An attached socket has proven whom it speaks for. */
function anybody(): boolean {
  return true;
}
