import * as ar from './ar.ts';
import * as de from './de.ts';
import * as en from './en.ts';
import * as es from './es.ts';
import * as fr from './fr.ts';
import * as it from './it.ts';
import * as ja from './ja.ts';
import * as ko from './ko.ts';
import * as nl from './nl.ts';
import * as pl from './pl.ts';
import * as pt from './pt.ts';
import * as zh from './zh.ts';
import type { Language, VisitorMessages } from './languages.ts';

/** The texts for end users in every language; a browser loads only its own. The compiler reports a language that is missing here. */
export const VISITOR_MESSAGES: Readonly<Record<Language, VisitorMessages>> = {
  en,
  de,
  fr,
  es,
  pt,
  it,
  nl,
  pl,
  ja,
  zh,
  ko,
  ar,
};
