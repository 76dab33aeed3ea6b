import type { OwnWords } from '../../../protocol/languages/words.ts';
import type { Texts } from '../api.ts';

/** What the element is doing, as it is said to the visitor. */
export type Status =
  | 'ready'
  | 'connecting'
  | 'listening'
  | 'waiting'
  | 'reading'
  | 'speaking'
  | 'thinking'
  | 'muted'
  | 'reconnecting'
  | 'idle'
  | 'over'
  | 'failed';

/** What is said beneath a status, by its name, and where the visitor holds a button or writes. */
export type Hint = 'ready' | 'readyToHold' | 'connecting' | 'muted' | 'reconnecting' | 'idle' | 'idleWritten';

/** All that the element says in one language. The compiler finds a text that a language does not have. */
export interface Words {
  /** Names the panel. */
  readonly title: string;
  /** Beside the title, where visitors are told that they speak with an AI: the usual short word for it. */
  readonly ai: string;
  /** Tells it in a sentence, before a conversation. */
  readonly tellAi: string;
  /** On the button that opens it. */
  readonly launcher: string;
  readonly open: string;
  readonly close: string;
  readonly start: string;
  /** In the place of `start`, beneath a consent line. */
  readonly agree: string;
  readonly again: string;
  /** In the place of `again`, after a failure. */
  readonly tryAgain: string;
  readonly end: string;
  /** In the place of `end`, for a few seconds after it was pressed while somebody spoke; and what a screen reader says then. */
  readonly endNow: string;
  readonly endAgain: string;
  readonly cancel: string;
  /** On the button that visitors of some agents hold while they speak. */
  readonly hold: string;
  readonly mute: string;
  readonly unmute: string;
  readonly captions: string;
  /** On the button that copies the captions, after it did, and where the browser lets the visitor alone do it. */
  readonly copy: string;
  readonly copied: string;
  readonly selected: string;
  /** After a conversation: asks how it was; names each answer, whose `{rating}` is from 1 to 5; thanks for it. */
  readonly rate: string;
  readonly rating: string;
  readonly rated: string;
  readonly microphone: string;
  readonly write: string;
  readonly send: string;
  /** On the button that stops the agent while it speaks. */
  readonly interrupt: string;
  /** On the buttons that go on without a microphone, and with one again. */
  readonly writeInstead: string;
  readonly speakInstead: string;
  readonly visitor: string;
  readonly agent: string;
  readonly status: Readonly<Record<Status, string>>;
  /** What to do about it, beneath the status. */
  readonly hint: Readonly<Record<Hint, string>>;
  /** `{time}` is such as "in 42 seconds". */
  readonly warning: Readonly<Record<'duration' | 'idle' | 'quota' | 'soon', string>>;
  readonly retry: string;
  /** By reasons, in the place of the server's words, which come in the visitor's language already. */
  readonly ends: Readonly<Record<string, string>>;
  /** Failures by their codes: those of the SDK, and of the server's any that a page words by itself. */
  readonly errors: OwnWords & { readonly [code: string]: string };
}

/** What only a conversation says: English has them where that is loaded, and the element without them. */
export type TalkWords = Pick<
  Words,
  'hold' | 'copy' | 'copied' | 'selected' | 'rate' | 'rating' | 'rated' | 'microphone' | 'writeInstead' | 'speakInstead'
>;

export type MainWords = Omit<Words, keyof TalkWords> & Partial<TalkWords>;

/** The words with a page's own in their place. */
export function withTexts<W extends MainWords>(words: W, texts: Texts): W {
  const all: Record<string, unknown> = { ...words };
  for (const [name, text] of Object.entries(texts)) {
    const present = all[name];
    all[name] = typeof present === 'object' ? { ...present, ...(text as object) } : text;
  }
  return all as unknown as W;
}
