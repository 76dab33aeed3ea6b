/**
 * The languages in which end users are spoken to, by their BCP 47 tags, the default first (docs/contract.md, section 2.9). It is the only
 * list: the server's words, the element's, its build and the interface description derive from it.
 */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ja', 'zh', 'ko', 'ar'] as const;

export type Language = (typeof LANGUAGES)[number];

/** Those that are written from right to left. */
export const RIGHT_TO_LEFT: readonly Language[] = ['ar'];

export const DEFAULT_LANGUAGE: Language = 'en';
