import { z } from 'zod';
import { asEvent, readError, readFrame, type CallSocket, type CallFrame } from './call-socket.ts';
import type { Sideband, SidebandEnd, UpstreamEvent } from './contract.ts';

/** A connection to a session of OpenAI's live API. Its configuration cannot change, and we cannot limit its responses. */
export class LiveSideband implements Sideband {
  readonly closed: Promise<SidebandEnd>;
  readonly #socket: CallSocket;
  readonly #hear: (event: UpstreamEvent) => void;
  /** The highest total so far: totals are cumulative, so a lower one is out of date. */
  #totalMs = -1;
  #isOver = false;

  constructor(socket: CallSocket, hear: (event: UpstreamEvent) => void) {
    this.#socket = socket;
    this.#hear = hear;
    this.closed = socket.closed;
    socket.listen((text) => this.#receive(text));
  }

  /** Asks the provider to close the session, which it confirms with an event. */
  endSession(): void {
    this.#socket.send({ type: 'session.close' });
  }

  // Nothing can be limited, restored or cut off; the live API has no items, and no responses that could be asked for.
  limitResponses(): void {}
  restoreConfig(): void {}
  cancelResponse(): void {}
  addItem(): void {}
  deleteItem(): void {}
  createResponse(): void {}
  clearInput(): void {}
  commitInput(): void {}
  clearSpeech(): void {}

  close(): void {
    this.#socket.close();
  }

  #receive(text: string): void {
    const frame = readFrame(text);
    if (frame === undefined) return this.#tell({ type: 'trouble', code: 'garbage_frame' });
    if (frame.type === 'error') return this.#tell(asEvent(readError(frame).code));
    for (const event of eventsOf(frame)) this.#tell(event);
  }

  #tell(event: UpstreamEvent): void {
    if (this.#isOver) return;
    if (event.type === 'usageTotal') {
      if (event.ms <= this.#totalMs) return;
      this.#totalMs = event.ms;
    }
    if (event.type === 'over') this.#isOver = true;
    this.#hear(event);
  }
}

const seconds = z.object({ usage: z.object({ seconds: z.number().min(0).max(1_000_000) }) });
const closed = z.object({ reason: z.string().optional().catch(undefined) });

type OverReason = Extract<UpstreamEvent, { type: 'over' }>['reason'];
/** The provider's reasons for closing a session; an end that was requested, but not by us, was requested by the page. */
const overReasons: Readonly<Record<string, OverReason>> = {
  expired: 'expired',
  content: 'content',
  connection_lost: 'lost',
};

/** What an event of OpenAI's live API means, in our words; most mean nothing to us. */
export function eventsOf(frame: CallFrame): readonly UpstreamEvent[] {
  switch (frame.type) {
    case 'session.usage.updated':
      return [totalOf(frame)];
    case 'session.closed':
      return [totalOf(frame), { type: 'over', reason: overReasonOf(frame) }];
    case 'session.input_transcript.delta':
      return [{ type: 'activity' }, { type: 'listening' }, { type: 'words' }];
    case 'session.output_transcript.delta':
      return [{ type: 'activity' }, { type: 'speaking' }];
    default:
      return [];
  }
}

function totalOf(frame: CallFrame): UpstreamEvent {
  const { data } = seconds.safeParse(frame);
  if (data === undefined) return { type: 'usageUnreadable', key: undefined };
  return { type: 'usageTotal', ms: Math.ceil(data.usage.seconds * 1000) };
}

function overReasonOf(frame: CallFrame): OverReason {
  return overReasons[closed.safeParse(frame).data?.reason ?? ''] ?? 'remote';
}
