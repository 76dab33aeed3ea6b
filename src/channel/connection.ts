import { classify } from '../../machines/voice-session/selectors.ts';
import type { EndReason, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import type { Subjects } from '../auth/subjects.ts';
import { codes, Refusal, Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import { toMicroDollars } from '../quota/ceilings.ts';
import { reportUsage, type UsageParts } from '../quota/report-usage.ts';
import type { Events } from '../telemetry/events.ts';
import { speaksFor } from '../voice/proof.ts';
import { endedRefusal, viewOf } from '../voice/view.ts';
import { FrameBudget } from './frame-budget.ts';
import { readFrame, type ClientFrame, type ServerFrame } from './protocol.ts';
import { closeCode, type Socket, type SocketListener } from './socket.ts';
import { Warnings } from './warnings.ts';

export interface ChannelParts extends UsageParts {
  readonly subjects: Subjects;
  readonly clock: { now(): number };
  readonly heartbeatIntervalSec: number;
  /** Frames at once, and how many a minute are earned back. */
  readonly budget: { readonly burst: number; readonly perMinute: number };
  readonly events: Events;
}

/** Where attached connections are found when something is to be pushed. */
export interface Attachments {
  add(connection: Connection): void;
  remove(connection: Connection): void;
}

const MAX_BAD_FRAMES = 3;
const ATTACH_MS = 5000;

/**
 * One socket of one session (contract section 7). Frames of a socket are served in their order, so that a reply never
 * overtakes an earlier one; a fault in one socket touches no other.
 */
export class Connection implements SocketListener {
  readonly #socket: Socket;
  readonly #parts: ChannelParts;
  readonly #attachments: Attachments;
  readonly #budget: FrameBudget;
  readonly #attachTimer: NodeJS.Timeout;
  readonly #warnings = new Warnings();
  #record: VoiceRecord | undefined;
  #state: VoiceState = 'engaged';
  #badFrames = 0;
  #isOver = false;
  /** The frame that is being served, when that takes a while. */
  #serving: Promise<void> | undefined;

  constructor(socket: Socket, parts: ChannelParts, attachments: Attachments) {
    this.#socket = socket;
    this.#parts = parts;
    this.#attachments = attachments;
    this.#budget = new FrameBudget(parts.budget.burst, parts.budget.perMinute, parts.clock.now());
    this.#attachTimer = setTimeout(() => this.close(closeCode.noAttach, 'no attach in time'), ATTACH_MS);
    this.#attachTimer.unref();
  }

  /** The session it is attached to. */
  get record(): VoiceRecord | undefined {
    return this.#record;
  }

  message(text: string): void {
    if (this.#isOver) return;
    if (!this.#budget.take(this.#parts.clock.now())) return this.close(closeCode.tooManyFrames, 'too many frames');
    const frame = readFrame(text);
    if (this.#serving === undefined) this.#serve(frame);
    else this.#queue(this.#serving.then(() => this.#serve(frame)));
  }

  binary(): void {
    if (this.#isOver) return;
    if (!this.#budget.take(this.#parts.clock.now())) return this.close(closeCode.tooManyFrames, 'too many frames');
    this.#refuseFrame();
  }

  ping(): void {
    if (!this.#isOver && !this.#budget.take(this.#parts.clock.now()))
      this.close(closeCode.tooManyFrames, 'too many frames');
  }

  closed(): void {
    this.#isOver = true;
    clearTimeout(this.#attachTimer);
    this.#attachments.remove(this);
  }

  /** Closes the socket once; later calls change nothing. */
  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.closed();
    this.#socket.close(code, reason);
  }

  /** Tells the client of a transition that happened anywhere. */
  push(state: VoiceState, endReason: EndReason | null): void {
    if (endReason !== null) this.#tellEnd(endReason);
    else if (state !== this.#state) {
      this.#state = state;
      this.send({ type: 'state', state });
    }
  }

  /** Warns the client when its session is about to end (60 s and 10 s before). */
  warn(at: number): void {
    const record = this.#record;
    const { limits } = this.#parts.sessions;
    if (record === undefined || this.#state !== 'engaged' || this.#warnings.due(record, at, limits) === undefined)
      return;
    // A heartbeat over HTTP or another socket may have moved the end: the warning is due only if the present record says so.
    this.#guard(
      andThen(this.#parts.sessions.find(record.id), (present) => {
        this.#record = present ?? record;
        const warning = this.#warnings.due(this.#record, at, limits);
        if (warning === undefined || this.#isOver) return;
        this.#warnings.note(this.#record, warning, limits);
        this.send({ type: 'warning', ...warning });
      }),
    );
  }

  /** A socket that does not read is closed: a frame is never dropped silently. */
  send(frame: ServerFrame): void {
    if (this.#isOver) return;
    if (this.#socket.send(JSON.stringify(frame)) === 'dropped')
      this.close(closeCode.overloaded, 'the socket does not read');
  }

  #serve(frame: ClientFrame | undefined): void {
    if (this.#isOver) return;
    if (frame === undefined) return this.#refuseFrame();
    try {
      this.#guard(this.#answer(frame));
    } catch (fault) {
      this.#fail(fault);
    }
  }

  #guard(work: Eventually<void>): void {
    if (work instanceof Promise) this.#queue(work.catch((fault: unknown) => this.#fail(fault)));
  }

  #queue(work: Promise<void>): void {
    const serving = (this.#serving === undefined ? work : Promise.all([this.#serving, work])).then(() => {
      if (this.#serving === serving) this.#serving = undefined;
    });
    this.#serving = serving;
  }

  #answer(frame: ClientFrame): Eventually<void> {
    const record = this.#record;
    if (frame.type === 'attach') return record === undefined ? this.#attach(frame) : this.#refuseFrame();
    if (record === undefined) return this.#refuseFrame();
    switch (frame.type) {
      case 'heartbeat':
        return this.#heartbeat(record, frame);
      case 'usage':
        return this.#usage(record, frame);
      case 'end':
        return this.#end(record);
    }
  }

  #attach({ sm_session_id, email }: ClientFrame & { type: 'attach' }): Eventually<void> {
    const { sessions, subjects, clock, heartbeatIntervalSec } = this.#parts;
    return andThen(sessions.find(sm_session_id), (record) => {
      if (record === undefined || !speaksFor(record, email, subjects))
        return this.close(closeCode.unknownSession, 'unknown session');
      if (record.endReason !== null) return this.#tellEnd(record.endReason);
      if (this.#isOver) return;
      clearTimeout(this.#attachTimer);
      const at = clock.now();
      const { maxMinutes, maxIdleSec } = sessions.limits;
      this.#record = record;
      this.#state = classify(record, at, sessions.limits);
      this.#attachments.add(this);
      this.send({
        type: 'attached',
        session: viewOf(record, at),
        state: this.#state,
        heartbeat: { intervalSec: heartbeatIntervalSec },
        limits: { maxMinutes, maxIdleSec },
      });
    });
  }

  #heartbeat({ id: sessionId }: VoiceRecord, { id, idleSec }: ClientFrame & { type: 'heartbeat' }): Eventually<void> {
    const at = this.#parts.clock.now();
    return andThen(this.#parts.sessions.heartbeat(sessionId, at, idleSec, anybody), (outcome) => {
      if (outcome === undefined) return this.close(closeCode.unknownSession, 'unknown session');
      const { record } = outcome;
      this.#record = record;
      if (record.endReason !== null) return this.#tellEnd(record.endReason);
      this.#state = 'engaged';
      this.send({
        type: 'heartbeat',
        ...(id === undefined ? {} : { id }),
        session: viewOf(record, at),
        state: 'engaged',
      });
    });
  }

  async #usage(record: VoiceRecord, { id, tokens, dollars }: ClientFrame & { type: 'usage' }): Promise<void> {
    const microDollars = toMicroDollars(dollars);
    if (microDollars === undefined) return this.#refuseFrame();
    const { subject, caller, tenantId, keyId, id: sessionId } = record;
    const atMs = this.#parts.clock.now();
    const report = { tokens, microDollars, idempotencyKey: id, atMs };
    const result = await reportUsage({ subject, caller, tenantId, keyId, sessionId }, report, this.#parts);
    if (!(result instanceof Refusal)) return this.send({ type: 'usage', id, usage: result });
    this.send({ type: 'error', code: result.code, userMessage: result.userMessage, id });
  }

  #end({ id }: VoiceRecord): Eventually<void> {
    const { sessions, clock } = this.#parts;
    return andThen(sessions.end(id, 'closed_by_client', clock.now()), (outcome) => {
      this.#tellEnd(outcome?.record.endReason ?? 'closed_by_client');
    });
  }

  #tellEnd(reason: EndReason): void {
    const { maxMinutes } = this.#parts.sessions.limits;
    const { code, userMessage } = endedRefusal(reason, maxMinutes);
    this.send({ type: 'ended', code, reason, userMessage, maxMinutes });
    this.close(closeCode.sessionOver, reason);
  }

  #refuseFrame(): void {
    this.#badFrames += 1;
    const { userMessage } = codes.INVALID_REQUEST;
    this.send({ type: 'error', code: 'INVALID_REQUEST', userMessage });
    if (this.#badFrames >= MAX_BAD_FRAMES) this.close(closeCode.badFrames, 'bad frames');
  }

  /** The socket stays: the client may try the frame again. */
  #fail(fault: unknown): void {
    const isAway = fault instanceof Unavailable;
    if (isAway) this.#parts.events.dependencyAway(fault.dependency, fault);
    else this.#parts.events.faulted(fault, undefined, 'channel');
    const code = isAway ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR';
    this.send({ type: 'error', code, userMessage: codes[code].userMessage });
  }
}

/** An attached socket has proven whom it speaks for. */
function anybody(): boolean {
  return true;
}
