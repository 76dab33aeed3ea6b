import type { OwnWords } from '../../../protocol/error-translations/languages.ts';
import type { Texts } from '../api.ts';

type Whole<T> = {
  readonly [Name in keyof T]-?: T[Name] extends string | undefined ? string : Whole<NonNullable<T[Name]>>;
};

/** All texts of the element in one language. The compiler reports a text that a language lacks. */
export type Words = Omit<Whole<Texts>, 'ends' | 'errors'> & {
  readonly ends?: Texts['ends'];
  readonly errors: OwnWords & { readonly [code: string]: string };
};

/** The element's state, as shown to the visitor. */
export type Status = keyof Words['status'];

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
