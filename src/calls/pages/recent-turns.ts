import { lastBytesOf } from '../../kernel/text.ts';
import type { CallFrame } from '../../protocol/call-frames.ts';
import type { Speaker } from '../../upstream/contract.ts';

type TranscriptFrame = Extract<CallFrame, { type: 'transcript' }>;

/** What one side said in one turn. */
interface Turn {
  readonly who: Speaker;
  readonly text: string;
  /** The visitor interrupted it, and may not have heard all of it. */
  readonly isInterrupted: boolean;
}

/** The last part of what was said in a session until now. */
export interface Recap {
  readonly turns: readonly Turn[];
  /** The beginning was left out. */
  readonly isCut: boolean;
}

/** Bytes of the text that the agent of the next call is told. */
const MAX_RECAP_BYTES = 4096;
/** Of those, the bytes for the introductory sentence. */
const HEAD_BYTES = 256;
/** Bytes kept of one turn, from its end. Even with every character escaped in JSON, several turns fit. */
const MAX_TURN_BYTES = 1024;

/** How the text for the agent begins: the echo agent recognises its first words and does not repeat it. */
const HEAD =
  'What was said before in this conversation, by the visitor and by you, the agent, oldest first, one JSON object a line';

interface NotedTurn {
  /** The item's name; undefined for turns of an earlier call. */
  readonly id: string | undefined;
  readonly turn: Turn;
  readonly bytes: number;
}

/**
 * What the pages of a session were shown of its conversation, for the agent of its next call: the last turns of both sides, in 4 KiB. It contains
 * only what captions showed.
 */
export class RecentTurns {
  #noted: NotedTurn[] = [];
  #isCut = false;

  /** Notes what pages are shown. @returns whether that completes a turn: then it is worth keeping */
  note(frames: readonly CallFrame[]): boolean {
    const shown = frames.filter((frame): frame is TranscriptFrame => frame.type === 'transcript');
    for (const frame of shown) this.#noteTurn(frame);
    return shown.some(({ final }) => final);
  }

  /** Puts the turns of earlier calls before those noted here. */
  putBefore({ turns, isCut }: Recap): void {
    // Where the beginning is left out already, anything older is of no use.
    if (this.#isCut) return;
    this.#noted = [...turns.map((turn) => noted(undefined, turn)), ...this.#noted];
    this.#isCut = isCut;
    this.#fit();
  }

  get recap(): Recap {
    return { turns: this.#noted.map(({ turn }) => turn), isCut: this.#isCut };
  }

  /** The text that the agent is told; undefined where nothing was said. */
  get text(): string | undefined {
    if (this.#noted.length === 0) return undefined;
    const cut = this.#isCut ? '; the beginning is left out' : '';
    const head = `${HEAD}${cut}. Go on from there, and do not answer this message.`;
    return [head, ...this.#noted.map(({ turn }) => lineOf(turn))].join('\n');
  }

  #noteTurn({ id, who, text, cut, cutAtMs }: TranscriptFrame): void {
    // Line breaks and control characters mean nothing here, and escaped they take up to six times their size.
    const plain = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
    const end = lastBytesOf(plain, MAX_TURN_BYTES);
    const isWhole = cut !== true && end.length === plain.length;
    const turn = { who, text: isWhole ? end : `…${end}`, isInterrupted: cutAtMs !== undefined };
    const at = this.#noted.findIndex((one) => one.id === id);
    this.#noted.splice(at < 0 ? this.#noted.length : at, at < 0 ? 0 : 1, ...(plain === '' ? [] : [noted(id, turn)]));
    this.#fit();
  }

  /** Drops the oldest turns: the newest are more useful to the next agent. */
  #fit(): void {
    let bytes = this.#noted.reduce((sum, one) => sum + one.bytes, 0);
    while (bytes > MAX_RECAP_BYTES - HEAD_BYTES) {
      bytes -= this.#noted.shift()?.bytes ?? bytes;
      this.#isCut = true;
    }
  }
}

function noted(id: string | undefined, turn: Turn): NotedTurn {
  return { id, turn, bytes: Buffer.byteLength(lineOf(turn)) + 1 };
}

/** As JSON, so that the words of one side cannot pass for the other's. */
function lineOf({ who, text, isInterrupted }: Turn): string {
  return JSON.stringify({ [who]: text, ...(isInterrupted && { interrupted: true }) });
}
