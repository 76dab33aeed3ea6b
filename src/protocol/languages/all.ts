import * as de from './de.ts';
import * as en from './en.ts';
import * as es from './es.ts';
import * as fr from './fr.ts';
import * as ja from './ja.ts';
import type { Words } from './words.ts';

/** The languages in which end users are spoken to, by their BCP 47 tags, the default first (docs/contract.md, section 2.9). */
export const LANGUAGES = {
  en: { errors: en.errors, ends: en.ends, own: en.own },
  de: { errors: de.errors, ends: de.ends, own: de.own },
  fr: { errors: fr.errors, ends: fr.ends, own: fr.own },
  es: { errors: es.errors, ends: es.ends, own: es.own },
  ja: { errors: ja.errors, ends: ja.ends, own: ja.own },
} as const satisfies Record<string, Words>;

export type Language = keyof typeof LANGUAGES;

export const DEFAULT_LANGUAGE: Language = 'en';
