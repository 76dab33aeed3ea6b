import type { OwnWords } from '../../../protocol/languages/words.ts';
import type { Texts } from '../api.ts';

/** The element's state, as shown to the visitor. */
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

/** Hints below the status. Most have a status's name; some are for visitors who write or use push-to-talk. */
export type Hint = 'ready' | 'readyToHold' | 'connecting' | 'muted' | 'reconnecting' | 'idle' | 'idleWritten';

/** All texts of the element in one language. The compiler reports a text that a language lacks. */
export interface Words {
  /** The panel's name. */
  readonly title: string;
  /** Beside the title, if visitors must be told that they speak with an AI: the usual short word for it. */
  readonly ai: string;
  /** The same as a sentence, before a conversation. */
  readonly tellAi: string;
  /** On the button that opens the panel. */
  readonly launcher: string;
  readonly open: string;
  readonly close: string;
  readonly start: string;
  /** Replaces `start` below a consent line. */
  readonly agree: string;
  readonly again: string;
  /** Replaces `again` after a failure. */
  readonly tryAgain: string;
  readonly end: string;
  /** Replaces `end` for a few seconds after it was pressed while somebody spoke; `endAgain` is what screen readers say then. */
  readonly endNow: string;
  readonly endAgain: string;
  readonly cancel: string;
  /** On the push-to-talk button. */
  readonly hold: string;
  readonly mute: string;
  readonly unmute: string;
  readonly captions: string;
  /** On the button that copies the captions; after it has copied; and after it could only select them for the visitor to copy. */
  readonly copy: string;
  readonly copied: string;
  readonly selected: string;
  /** After a conversation: asks for a rating; names each star, where `{rating}` is from 1 to 5; thanks for it. */
  readonly rate: string;
  readonly rating: string;
  readonly rated: string;
  readonly microphone: string;
  readonly write: string;
  readonly send: string;
  /** On the button that stops the agent while it is speaking. */
  readonly interrupt: string;
  /** On the button that switches to writing, and on the one that switches back to speaking. */
  readonly writeInstead: string;
  readonly speakInstead: string;
  readonly visitor: string;
  readonly agent: string;
  readonly status: Readonly<Record<Status, string>>;
  /** What the visitor can do, below the status. */
  readonly hint: Readonly<Record<Hint, string>>;
  /** `{time}` is replaced by a time such as "in 42 seconds". */
  readonly warning: Readonly<Record<'duration' | 'idle' | 'quota' | 'soon', string>>;
  readonly retry: string;
  /** By end reason. They replace the server's texts, which are already in the visitor's language. */
  readonly ends: Readonly<Record<string, string>>;
  /** By error code: those of the SDK, and any of the server's that a page words itself. */
  readonly errors: OwnWords & { readonly [code: string]: string };
}

/** Texts that only a conversation needs. In English they are in the file that is loaded for it, and not in the element. */
export type TalkWords = Pick<
  Words,
  | 'endNow'
  | 'endAgain'
  | 'hold'
  | 'copy'
  | 'copied'
  | 'selected'
  | 'rate'
  | 'rating'
  | 'rated'
  | 'microphone'
  | 'writeInstead'
  | 'speakInstead'
>;

export type MainWords = Omit<Words, keyof TalkWords> & Partial<TalkWords>;

/** The texts, with those that the page replaces. */
export function withTexts<W extends MainWords>(words: W, texts: Texts): W {
  const all: Record<string, unknown> = { ...words };
  for (const [name, text] of Object.entries(texts)) {
    const present = all[name];
    all[name] = typeof present === 'object' ? { ...present, ...(text as object) } : text;
  }
  return all as unknown as W;
}
