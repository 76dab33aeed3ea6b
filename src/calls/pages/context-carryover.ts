import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { BackgroundTasks } from '../../kernel/async.ts';
import type { Clock } from '../../kernel/time.ts';
import { ifAway } from '../../kernel/errors.ts';
import { createSealer, SealBroken, type Sealer } from '../../kernel/seal.ts';
import { lastBytesOf } from '../../kernel/text.ts';
import type { CallFrame } from '../../protocol/call-frames.ts';
import type { Recaps } from '../../stores/recaps/contract.ts';
import type { Speaker } from '../../upstream/contract.ts';
import { itemIdOf, type Conversation } from '../conversation.ts';

interface CarryoverDeps {
  readonly recaps: Pick<SealedRecaps, 'find' | 'keep'>;
  readonly running: BackgroundTasks;
}

interface CarryoverCall {
  readonly record: CallRecord;
  readonly conversation: Pick<Conversation, 'add'>;
}

/** Reasons for closing a call after which another call of its session may follow. */
const MAY_BE_FOLLOWED: ReadonlySet<CallRecord['closeReason']> = new Set(['replaced', 'remote', 'lost']);

/** What was said in the session of one held call: its agent is told this when the call opens, and it is kept for the next call. */
export class ContextCarryover {
  readonly #call: CarryoverCall;
  readonly #deps: CarryoverDeps;
  readonly #turns = new RecentTurns();
  /** Whether pages were shown words that are not kept yet, and whether they are worth keeping before the call closes. */
  #isSaidMore = false;
  #isDue = false;
  /** The call is closing or over, and another may follow. */
  #hasLeft = false;
  /** What the agent is still to be told. */
  #seed: string | undefined;

  constructor(call: CarryoverCall, deps: CarryoverDeps) {
    this.#call = call;
    this.#deps = deps;
  }

  /** Loads what pages were shown of the session before this node held its call, if it is still kept. */
  async remember(): Promise<void> {
    const recap = await this.#deps.recaps.find(this.#call.record.sessionId);
    if (recap !== undefined) this.#turns.putBefore(recap);
  }

  /** The session's conversation continues in this call: its agent is told what was said before. Call it once, when the call is open. */
  goOn(): void {
    this.#seed = this.#turns.text;
    this.#tellSeed();
  }

  /** Notes what pages are shown. A turn that is complete is kept at once: this node may die any moment. */
  note(frames: readonly CallFrame[]): void {
    if (this.#turns.note(frames)) this.#isDue = true;
    this.#isSaidMore ||= frames.some(({ type }) => type === 'transcript');
    this.#keepWhatIsDue();
  }

  /** Does what is due; call it several times a second, and when the record has changed. */
  follow(): void {
    this.#tellSeed();
    this.#keepWhatIsDue();
  }

  /** Keeps each turn when it is complete, and what is being said when the call closes and another may follow. */
  #keepWhatIsDue(): void {
    const { state, closeReason } = this.#call.record;
    const hasLeft = MAY_BE_FOLLOWED.has(closeReason);
    const isLeaving = hasLeft && !this.#hasLeft;
    this.#hasLeft = hasLeft;
    // By then a call that replaces this one has read what was said, and keeps what is said from then on.
    const keepsTurns = state === 'open' || (hasLeft && closeReason !== 'replaced');
    if (isLeaving || (this.#isDue && keepsTurns)) this.keep();
  }

  /** Keeps what is not kept yet: this node may be the last one that knows it. */
  keep(): void {
    if (!this.#isSaidMore) return;
    this.#isSaidMore = false;
    this.#isDue = false;
    const { recaps, running } = this.#deps;
    running.start(recaps.keep(this.#call.record.sessionId, this.#turns.recap));
  }

  /** Tells the agent what was said before; waits while nobody hears the call. */
  #tellSeed(): void {
    if (this.#seed === undefined) return;
    const item = { id: itemIdOf('recap'), type: 'message', role: 'user', text: this.#seed } as const;
    if (this.#call.conversation.add(item)) this.#seed = undefined;
  }
}

type TranscriptFrame = Extract<CallFrame, { type: 'transcript' }>;

/** What one side said in one turn. */
interface Turn {
  readonly who: Speaker;
  readonly text: string;
  /** The visitor interrupted it, and may not have heard all of it. */
  readonly isInterrupted: boolean;
}

/** The last part of what was said in a session until now. */
interface Recap {
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

const PURPOSE = 'switchboard recaps';

interface SealedRecapsDeps {
  readonly store: Recaps;
  readonly installationKey: Buffer;
  readonly clock: Clock;
  /** The longest that a session may last. */
  readonly keepMs: number;
}

/**
 * The last part of what pages were shown of each session's conversation, for its next call on any node: sealed for that session alone, kept until the
 * session ends or its longest time is over, and lost if the live stores are lost. Operators, logs and metrics never see a word of it.
 */
export class SealedRecaps {
  readonly #deps: SealedRecapsDeps;
  readonly #sealer: Sealer;

  constructor(deps: SealedRecapsDeps) {
    this.#deps = deps;
    this.#sealer = createSealer([deps.installationKey], PURPOSE);
  }

  /** Keeps a recap, replacing the one before; while the store is away it is lost. */
  async keep(sessionId: string, recap: Recap): Promise<void> {
    const { store, clock, keepMs } = this.#deps;
    const at = clock.now();
    const sealed = this.#sealer.seal(JSON.stringify(recap), sessionId).toString('base64');
    await (async () => store.keep(sessionId, sealed, at + keepMs, at))().catch(ifAway(() => undefined));
  }

  /** Undefined where there is none, or while the store is away. */
  async find(sessionId: string): Promise<Recap | undefined> {
    const { store, clock } = this.#deps;
    const sealed = await (async () => store.find(sessionId, clock.now()))().catch(ifAway(() => undefined));
    if (sealed === undefined) return undefined;
    try {
      return JSON.parse(this.#sealer.open(Buffer.from(sealed, 'base64'), sessionId)) as Recap;
    } catch (fault) {
      if (fault instanceof SealBroken) return undefined;
      throw fault;
    }
  }

  /** The session is over. While the store is away, its recap expires by itself. */
  async forget(sessionId: string): Promise<void> {
    await (async () => this.#deps.store.forget(sessionId))().catch(ifAway(() => undefined));
  }
}
