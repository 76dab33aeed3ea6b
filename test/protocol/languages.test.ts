import { describe, expect, test } from 'vitest';
import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import { BUDGET_PERIODS } from '../../src/protocol/budget.ts';
import { LANGUAGES, type Language } from '../../src/protocol/languages/all.ts';
import { own as de } from '../../src/protocol/languages/de.ts';
import { own as en } from '../../src/protocol/languages/en.ts';
import { BUDGET_WORDS } from '../../src/protocol/languages/budgets.ts';
import { END_WORDS } from '../../src/protocol/languages/ends.ts';
import { ERROR_CODES } from '../../src/protocol/error-codes.ts';
import { own as es } from '../../src/protocol/languages/es.ts';
import { own as fr } from '../../src/protocol/languages/fr.ts';
import { own as ja } from '../../src/protocol/languages/ja.ts';
import type { InEach, OwnWords } from '../../src/protocol/languages/words.ts';
import { endedRefusal, Refusal } from '../../src/protocol/refusal.ts';
import { languageOfTag, preferredLanguage } from '../../src/protocol/languages/negotiate.ts';

describe('The language of an Accept-Language header', () => {
  test.each<[header: string | undefined, language: Language]>([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE', 'de'],
    ['de-AT', 'de'],
    ['zh-Hant-TW, ja-JP;q=0.8', 'ja'],
    ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
    ['en;q=0.8, es;q=0.9', 'es'],
    ['en;q=0.8,es;q=0.801', 'es'],
    ['es, de', 'es'],
    ['es;q=0.5, de;q=0.5', 'es'],
    ['de;q=0, fr;q=0.1', 'fr'],
    ['de;q=0', 'en'],
    ['it, pt;q=0.9', 'en'],
    ['it, de;q=0.1', 'de'],
    ['*', 'en'],
    ['de;q=0.5, *', 'en'],
    ['de, *;q=0.5', 'de'],
    ['de;q=0.5, *;q=0.5', 'de'],
    ['en;q=0, *', 'de'],
    ['*;q=0', 'en'],
    ['de-CH;q=0.2, de;q=0.8, fr;q=0.5', 'de'],
    [' ,, \tde\t;\tq=1.000 ,', 'de'],
    // What is no range or no weight is as if it were left out.
    ['de;q=2, fr;q=0.1', 'fr'],
    ['de;q=, fr;q=0.1', 'fr'],
    ['de;level=1, fr;q=0.1', 'fr'],
    ['de_AT, fr', 'fr'],
    ['german, fr', 'fr'],
    ['constructor', 'en'],
    ['__proto__', 'en'],
    ['toString, de', 'de'],
  ])('%s is %s', (header, language) => {
    expect(preferredLanguage(header)).toBe(language);
  });

  test('is what its first 256 characters say, without the entry that is cut there', () => {
    expect(preferredLanguage(`${'it,'.repeat(82)}de;q=0.1,fr`)).toBe('de');
    expect(preferredLanguage(`${'it;q=0.1,'.repeat(30)}de`)).toBe('en');
    expect(preferredLanguage(`${'it-'.repeat(90)}de`)).toBe('en');
    expect(preferredLanguage(`de;q=0.5,${' '.repeat(8192)}`)).toBe('de');
  });
});

test.each([
  ['de', 'de'],
  ['de-AT', 'de'],
  ['JA-jp', 'ja'],
  ['it', undefined],
  ['', undefined],
])('The language of the tag "%s" is %s', (tag, language) => {
  expect(languageOfTag(tag)).toBe(language);
});

const errorWords = Object.fromEntries(Object.entries(ERROR_CODES).map(([code, row]) => [code, row.userMessage]));
const own: Readonly<Record<Language, OwnWords>> = { en, de, fr, es, ja };

/** All texts of a language by group and name. */
function textsOf(language: Language): [name: string, text: string][] {
  const of = (group: string, texts: Readonly<Record<string, string>>): [string, string][] =>
    Object.entries(texts).map(([name, text]) => [`${group}.${name}`, text]);
  const each = (texts: Readonly<Record<string, InEach>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, words]) => [name, words[language]]));
  return [
    ...of('errors', each(errorWords)),
    ...of('ends', each(END_WORDS)),
    ...of('budgets', each(BUDGET_WORDS)),
    ...of('own', own[language]),
  ];
}

test('A session that ended for a reason of a later version is told to be over', () => {
  const refusal = endedRefusal('later_reason' as EndReason, 15);
  expect(refusal.wordsIn('de')).toBe(ERROR_CODES.SESSION_DURATION_EXCEEDED.userMessage.de);
});

test.each(BUDGET_PERIODS)(
  'A refusal because of a budget of %s says when to come back, also where it ended the session',
  (period) => {
    const budget = { id: 'b', of: 'tenant', period, resetAt: null };
    const refusal = new Refusal('DAILY_QUOTA_EXCEEDED', 'used up', { budget, saysEnd: 'quota_exceeded' });
    expect(refusal.wordsIn('en')).toBe(BUDGET_WORDS[period].en);
    expect(refusal.wordsIn('en').includes('tomorrow')).toBe(period === 'day');
  },
);

describe.each(LANGUAGES)('What end users read in %s', (language) => {
  test('has each text once and no other', () => {
    const names = (of: Language): string[] =>
      textsOf(of)
        .map(([name]) => name)
        .toSorted();
    expect(names(language)).toEqual(names('en'));
  });

  test('is whole sentences', () => {
    expect(textsOf(language).filter(([, text]) => !/^\S.*[.。]$/u.test(text))).toEqual([]);
  });

  test('is not left in English', () => {
    const english = new Map(textsOf('en'));
    const same = textsOf(language).filter(([name, text]) => english.get(name) === text);
    expect(same).toHaveLength(language === 'en' ? english.size : 0);
  });
});
