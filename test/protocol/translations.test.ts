import { describe, expect, test } from 'vitest';
import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import { BUDGET_PERIODS } from '../../src/protocol/budget.ts';
import { LANGUAGES, type Language } from '../../src/protocol/error-translations/languages.ts';
import { VISITOR_MESSAGES } from '../../src/protocol/error-translations/by-language.ts';
import { endedRefusal, Refusal } from '../../src/protocol/refusal.ts';
import { languageOfTag, preferredLanguage } from '../../src/protocol/error-translations/accept-language.ts';

describe('The language of an Accept-Language header', () => {
  test.each<[header: string | undefined, language: Language]>([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE', 'de'],
    ['de-AT', 'de'],
    ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
    ['en;q=0.8, es;q=0.9', 'es'],
    ['en;q=0.8,es;q=0.801', 'es'],
    ['es, de', 'es'],
    ['es;q=0.5, de;q=0.5', 'es'],
    ['de;q=0, fr;q=0.1', 'fr'],
    ['de;q=0', 'en'],
    ['sv, da;q=0.9', 'en'],
    ['pt-BR, pt;q=0.9', 'pt'],
    ['zh-Hant-TW, ja-JP;q=0.8', 'zh'],
    ['zh-CN', 'zh'],
    ['ar-EG,ar;q=0.9,en;q=0.5', 'ar'],
    ['sv, de;q=0.1', 'de'],
    ['*', 'en'],
    ['de;q=0.5, *', 'en'],
    ['de, *;q=0.5', 'de'],
    ['de;q=0.5, *;q=0.5', 'de'],
    ['en;q=0, *', 'de'],
    ['*;q=0', 'en'],
    ['de-CH;q=0.2, de;q=0.8, fr;q=0.5', 'de'],
    [' ,, \tde\t;\tq=1.000 ,', 'de'],
    // An invalid range or weight is ignored.
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
    expect(preferredLanguage(`${'sv,'.repeat(82)}de;q=0.1,fr`)).toBe('de');
    expect(preferredLanguage(`${'sv;q=0.1,'.repeat(30)}de`)).toBe('en');
    expect(preferredLanguage(`${'sv-'.repeat(90)}de`)).toBe('en');
    expect(preferredLanguage(`de;q=0.5,${' '.repeat(8192)}`)).toBe('de');
  });
});

test.each([
  ['de', 'de'],
  ['de-AT', 'de'],
  ['JA-jp', 'ja'],
  ['zh-Hans-CN', 'zh'],
  ['sv', undefined],
  ['', undefined],
])('The language of the tag "%s" is %s', (tag, language) => {
  expect(languageOfTag(tag)).toBe(language);
});

/** All texts of a language by group and name. */
function textsOf(language: Language): [name: string, text: string][] {
  const { errors, ends, budgets, own } = VISITOR_MESSAGES[language];
  return Object.entries({ errors, ends, budgets, own }).flatMap(([group, texts]) =>
    Object.entries(texts).map(([name, text]): [string, string] => [`${group}.${name}`, text]),
  );
}

test('A session that ended for a reason of a later version is told to be over', () => {
  const refusal = endedRefusal('later_reason' as EndReason, 15);
  expect(refusal.wordsIn('de')).toBe(VISITOR_MESSAGES.de.errors.SESSION_DURATION_EXCEEDED);
});

test.each(BUDGET_PERIODS)(
  'A refusal because of a budget of %s says when to come back, also where it ended the session',
  (period) => {
    const budget = { id: 'b', of: 'tenant', period, resetAt: null };
    const refusal = new Refusal('DAILY_QUOTA_EXCEEDED', 'used up', { budget, saysEnd: 'quota_exceeded' });
    expect(refusal.wordsIn('en')).toBe(VISITOR_MESSAGES.en.budgets[period]);
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

  test('is written in the letters of the language', () => {
    const letters = {
      ja: /\p{Script=Hiragana}/u,
      zh: /\p{Script=Han}/u,
      ko: /\p{Script=Hangul}/u,
      ar: /\p{Script=Arabic}/u,
    };
    const expected = (letters as Partial<Record<Language, RegExp>>)[language] ?? /\p{Script=Latin}/u;
    expect(textsOf(language).filter(([, text]) => !expected.test(text))).toEqual([]);
  });

  test('is not left in English', () => {
    const english = new Map(textsOf('en'));
    const same = textsOf(language).filter(([name, text]) => english.get(name) === text);
    expect(same).toHaveLength(language === 'en' ? english.size : 0);
  });
});
