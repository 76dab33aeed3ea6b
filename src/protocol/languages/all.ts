/** The languages in which end users are spoken to, by their BCP 47 tags, the default first (docs/contract.md, section 2.9). */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja'] as const;

export type Language = (typeof LANGUAGES)[number];

export const DEFAULT_LANGUAGE: Language = 'en';
