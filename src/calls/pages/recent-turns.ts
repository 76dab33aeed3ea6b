import { lastBytesOf } from '../../kernel/text.ts';
import type { CallFrame } from '../../protocol/call-frames.ts';
import type { Speaker } from '../../upstream/contract.ts';

type TranscriptFrame = Extract<CallFrame, { type: 'transcript' }>;

/** What one side said at a time. */
interface Turn {
  readonly who: Speaker;
  readonly text: string;
  /** The visitor interrupted it, and so may not have heard all of it. */
  readonly isInterrupted: boolean;
}

/** What was said in a session until now: the last of it. */
export interface Recap {
  readonly turns: readonly Turn[];
  /** The beginning is left out. */
  readonly isCut: boolean;
}

/** Bytes of what the agent of the next call is told. */
const MAX_RECAP_BYTES = 4096;
/** Of that, for the sentence before. */
const HEAD_BYTES = 256;
/** Bytes of one turn: its end. With both marks of JSON escaped a few of them fit. */
const MAX_TURN_BYTES = 1024;

/** How what the agent is told begins: the echo knows by its first words that it is not to be said back. */
const HEAD =
  'What was said before in this conversation, by the visitor and by you, the agent, oldest first, one JSON object a line';

interface Noted {
  /** The item's name; undefined for what was said before. */
  readonly id: string | undefined;
  readonly turn: Turn;
  readonly bytes: number;
}

/**
 * What the pages of a session were shown of its conversation, for the agent of its next call: the last turns of both sides, in 4 KiB. It
 * has nothing but what captions showed.
 */
export class RecentTurns {
  #noted: Noted[] = [];
  #isCut = false;

  /** Takes what pages are shown. @returns whether a turn is whole by that: it is worth keeping then */
  note(frames: readonly CallFrame[]): boolean {
    const shown = frames.filter((frame): frame is TranscriptFrame => frame.type === 'transcript');
    for (const frame of shown) this.#noteTurn(frame);
    return shown.some(({ final }) => final);
  }

  /** What was said before comes before what was noted here. */
  putBefore({ turns, isCut }: Recap): void {
    // Of a beginning that is left out nothing is of use.
    if (this.#isCut) return;
    this.#noted = [...turns.map((turn) => noted(undefined, turn)), ...this.#noted];
    this.#isCut = isCut;
    this.#fit();
  }

  get recap(): Recap {
    return { turns: this.#noted.map(({ turn }) => turn), isCut: this.#isCut };
  }

  /** As the agent is told it; undefined where nothing was said. */
  get text(): string | undefined {
    if (this.#noted.length === 0) return undefined;
    const cut = this.#isCut ? '; the beginning is left out' : '';
    const head = `${HEAD}${cut}. Go on from there, and do not answer this message.`;
    return [head, ...this.#noted.map(({ turn }) => lineOf(turn))].join('\n');
  }

  #noteTurn({ id, who, text, cut, cutAtMs }: TranscriptFrame): void {
    // Lines and control characters mean nothing here, and take up to six times their room.
    const plain = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
    const end = lastBytesOf(plain, MAX_TURN_BYTES);
    const isWhole = cut !== true && end.length === plain.length;
    const turn = { who, text: isWhole ? end : `…${end}`, isInterrupted: cutAtMs !== undefined };
    const at = this.#noted.findIndex((one) => one.id === id);
    this.#noted.splice(at < 0 ? this.#noted.length : at, at < 0 ? 0 : 1, ...(plain === '' ? [] : [noted(id, turn)]));
    this.#fit();
  }

  /** Leaves out the oldest turns: the next agent has more use for the newest. */
  #fit(): void {
    let bytes = this.#noted.reduce((sum, one) => sum + one.bytes, 0);
    while (bytes > MAX_RECAP_BYTES - HEAD_BYTES) {
      bytes -= this.#noted.shift()?.bytes ?? bytes;
      this.#isCut = true;
    }
  }
}

function noted(id: string | undefined, turn: Turn): Noted {
  return { id, turn, bytes: Buffer.byteLength(lineOf(turn)) + 1 };
}

/** In JSON no words of one side can be taken for the other's. */
function lineOf({ who, text, isInterrupted }: Turn): string {
  return JSON.stringify({ [who]: text, ...(isInterrupted && { interrupted: true }) });
}
