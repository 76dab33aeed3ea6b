import { LANGUAGES, type Language } from '../../../protocol/error-translations/languages.ts';
import { en } from './en.ts';
import type { MainWords } from './message-types.ts';

/** The language of the first tag that the element supports; English if it supports none. */
export function chooseLanguage(tags: readonly (string | null | undefined)[]): Language {
  for (const tag of tags) {
    const first = tag?.trim().toLowerCase().split('-', 1)[0] ?? '';
    const found = LANGUAGES.find((language) => language === first);
    if (found !== undefined) return found;
  }
  return 'en';
}

/** English is part of the element. The other languages are files beside it, of which a visitor loads one. */
const loaded = new Map<Language, MainWords>([['en', en]]);

/** The texts of a language; undefined while they are being loaded. @param home where the files are @param arrived called once they are loaded */
export function wordsOf(language: Language, home: string, arrived: () => void): MainWords | undefined {
  const present = loaded.get(language);
  if (present === undefined) {
    const file: Promise<{ readonly words: MainWords }> = import(
      /* @vite-ignore */ `${home}switchboard-widget-${language}.mjs`
    );
    // If the file cannot be loaded, English is better than nothing.
    file
      .then(
        ({ words }) => loaded.set(language, words),
        () => loaded.set(language, en),
      )
      .finally(arrived);
  }
  return present;
}
