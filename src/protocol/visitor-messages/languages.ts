/**
 * The languages that end users can read, by their BCP 47 tags, the default first (docs/contract.md, section 2.9). This is the only list: the
 * texts of the server and of the element, the element's build and the interface description derive from it.
 */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ja', 'zh', 'ko', 'ar'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The languages that are written from right to left. */
export const RIGHT_TO_LEFT: readonly Language[] = ['ar'];

export const DEFAULT_LANGUAGE: Language = 'en';
