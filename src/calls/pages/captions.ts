import { MAX_CAPTION_BYTES, type CallFrame } from '../../protocol/call-frames.ts';
import { lastBytesOf } from '../../kernel/text.ts';
import type { Speaker, UpstreamEvent } from '../../upstream/contract.ts';
import type { HeldCallDeps } from '../deps.ts';

type Transcript = Extract<UpstreamEvent, { type: 'transcript' }>;

/** How long words are gathered before they are shown, in milliseconds. */
const GATHER_MS = 150;
const WINDOW_MS = 1000;
/** Most frames that pages are shown in a second: nobody can read more changes. */
const MAX_FRAMES = 8;
/** Items whose words are remembered; an interruption may be reported after the words. */
const MAX_ITEMS = 8;

interface Item {
  readonly who: Speaker;
  text: string;
  isCut: boolean;
  isFinal: boolean;
  cutAtMs: number | undefined;
}

interface CaptionsDeps extends Pick<HeldCallDeps, 'clock' | 'after'> {
  readonly show: (frames: readonly CallFrame[]) => void;
}

/**
 * Who speaks in a call and what is said, as its pages see it: gathered, and at most eight frames a second. The words stay in memory only while they
 * are shown; `context-carryover` keeps what the session's next call needs.
 */
export class Captions {
  readonly #deps: CaptionsDeps;
  readonly #items = new Map<string, Item>();
  /** Items with changes that pages have not been shown yet. */
  readonly #changed = new Set<string>();
  readonly #speaking = new Map<Speaker, boolean>();
  readonly #shownSpeaking = new Map<Speaker, boolean>();
  /** The last item of each speaker of which words are not known here, because nobody wanted captions. */
  readonly #missed = new Map<Speaker, string>();
  #stopWaiting: (() => void) | undefined;
  /** Times of the frames shown within the last second. */
  #shownAtMs: number[] = [];

  constructor(deps: CaptionsDeps) {
    this.#deps = deps;
  }

  /** Nobody wants captions: notes only the item, because a page that joins later misses its beginning. */
  miss({ who, item }: Transcript): void {
    this.#missed.set(who, item);
  }

  speech(who: Speaker, isOn: boolean): void {
    this.#speaking.set(who, isOn);
    this.#wait(0);
  }

  hear({ item: id, who, text, isWhole }: Transcript): void {
    const item = this.#item(id, who);
    if (item.isFinal) return;
    item.isCut = isWhole ? false : item.isCut;
    item.isFinal = isWhole;
    item.text = isWhole ? text : item.text + text;
    // A character has at least one byte, so what is cut off here would not be shown anyway.
    if (item.text.length > MAX_CAPTION_BYTES) {
      item.text = item.text.slice(-MAX_CAPTION_BYTES);
      item.isCut = true;
    }
    this.#note(id);
  }

  /** The visitor interrupted an item. */
  cut(id: string, atMs: number): void {
    const item = this.#items.get(id);
    if (item === undefined) return;
    item.cutAtMs = atMs;
    item.isFinal = true;
    this.#note(id);
  }

  /** Forgets all words, and waits for nothing. */
  clear(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    for (const [id, { who, isFinal }] of this.#items) if (!isFinal) this.#missed.set(who, id);
    this.#items.clear();
    this.#changed.clear();
    this.#speaking.clear();
    this.#shownSpeaking.clear();
  }

  #item(id: string, who: Speaker): Item {
    const known = this.#items.get(id);
    if (known !== undefined) return known;
    for (const oldest of this.#items.keys()) {
      if (this.#items.size < MAX_ITEMS) break;
      this.#items.delete(oldest);
      this.#changed.delete(oldest);
    }
    const isCut = this.#missed.get(who) === id;
    const item = { who, text: '', isCut, isFinal: false, cutAtMs: undefined };
    this.#items.set(id, item);
    return item;
  }

  #note(id: string): void {
    this.#changed.add(id);
    this.#wait(GATHER_MS);
  }

  #wait(ms: number): void {
    if (ms === 0 && this.#stopWaiting === undefined && this.#left() > 0) return this.#show();
    this.#stopWaiting ??= this.#deps.after(Math.max(ms, GATHER_MS), () => {
      this.#stopWaiting = undefined;
      this.#show();
    });
  }

  /** Frames that may still be shown now. */
  #left(): number {
    const at = this.#deps.clock.now();
    this.#shownAtMs = this.#shownAtMs.filter((shownAtMs) => Math.abs(at - shownAtMs) < WINDOW_MS);
    return MAX_FRAMES - this.#shownAtMs.length;
  }

  #show(): void {
    const frames: CallFrame[] = [];
    const left = this.#left();
    for (const [who, on] of this.#speaking) {
      if (frames.length === left) break;
      if (this.#shownSpeaking.get(who) === on) continue;
      this.#shownSpeaking.set(who, on);
      frames.push({ type: 'speech', who, on });
    }
    for (const id of this.#changed) {
      if (frames.length === left) break;
      this.#changed.delete(id);
      const item = this.#items.get(id);
      if (item !== undefined) frames.push(captionOf(id, item));
    }
    const at = this.#deps.clock.now();
    for (const _ of frames) this.#shownAtMs.push(at);
    if (frames.length > 0) this.#deps.show(frames);
    if (this.#changed.size > 0 || frames.length === left) this.#wait(GATHER_MS);
  }
}

/** Everything known about an item, cut to the length that is shown. */
function captionOf(id: string, { who, text, isCut, isFinal, cutAtMs }: Item): CallFrame {
  const shown = lastBytesOf(text, MAX_CAPTION_BYTES);
  const cut = isCut || shown.length < text.length;
  return {
    type: 'transcript',
    id,
    who,
    text: shown,
    final: isFinal,
    ...(cut && { cut }),
    ...(cutAtMs !== undefined && { cutAtMs }),
  };
}
