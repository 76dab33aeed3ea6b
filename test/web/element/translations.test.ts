import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Texts } from '../../../src/web/element/api.ts';
import { atRest, type ConversationState } from '../../../src/web/element/conversation.ts';
import { messageOf, retryOf, statusOf, warningOf, timeIn } from '../../../src/web/element/status.ts';
import { chooseLanguage } from '../../../src/web/element/translations/choose-language.ts';
import { enTalk, en } from '../../../src/web/element/translations/en.ts';
import { words as de } from '../../../src/web/element/translations/de.ts';
import { withTexts, type Words } from '../../../src/web/element/translations/message-types.ts';
import { LANGUAGES, type Language } from '../../../src/protocol/error-translations/languages.ts';

const english: Words = { ...enTalk, ...en };
const load = async (language: Language): Promise<[Language, Words]> => {
  const file: { readonly words?: Words } = await import(`../../../src/web/element/translations/${language}.ts`);
  return [language, file.words ?? english];
};
const all = await Promise.all(LANGUAGES.map(load));

function texts(value: object, path = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, text]) =>
    typeof text === 'string'
      ? [[`${path}${name}`, text] as [string, string]]
      : texts(text as object, `${path}${name}.`),
  );
}

describe('The words of the element', () => {
  test.each(all)('in %s are complete, none is empty, and all placeholders are kept', (_language, words) => {
    const found = texts(words);
    const places = (text: string): string[] => text.match(/\{\w+\}/g) ?? [];
    expect(found.map(([name]) => name).toSorted()).toEqual(
      texts(english)
        .map(([name]) => name)
        .toSorted(),
    );
    expect(found.filter(([, text]) => text.trim() === '' || text !== text.trim())).toEqual([]);
    const inEnglish = new Map(texts(english));
    for (const [name, text] of found) expect(places(text), name).toEqual(places(inEnglish.get(name) ?? ''));
  });

  test.each(all)('in %s are not left in English', (language, words) => {
    const inEnglish = new Map(texts(english));
    const same = texts(words).filter(([name, text]) => inEnglish.get(name) === text);
    // Words that are the same in other languages.
    const shared = new Set(['AI', 'Microphone', 'Assistant']);
    const left = same.filter(([, text]) => !shared.has(text));
    expect(left.length > 0, JSON.stringify(left)).toBe(language === 'en');
  });

  test.each(LANGUAGES)(
    'leave the words of a count in %s to Intl, which has a form for each plural of it',
    (language) => {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
      const found = new Set(
        [0, 1, 2, 3, 11, 100, 1_000_000, 1.5].map((count) => new Intl.PluralRules(language).select(count)),
      );
      expect(found).toEqual(new Set(pluralCategories));
      expect(Intl.RelativeTimeFormat.supportedLocalesOf(language)).toEqual([language]);
      expect(
        texts(all.find(([name]) => name === language)?.[1] ?? {}).filter(
          ([name, text]) => name !== 'rating' && /\d/.test(text),
        ),
      ).toEqual([]);
    },
  );

  test('are all named in the published types of a page’s own texts', () => {
    expectTypeOf<keyof Texts>().toEqualTypeOf<keyof Words>();
    for (const group of ['status', 'hint', 'warning'] as const)
      expectTypeOf<keyof NonNullable<Texts[typeof group]>>().toEqualTypeOf<keyof Words[typeof group]>();
    expectTypeOf(english).toExtend<Texts>();
  });

  test.each([
    [['de-AT', 'fr'], 'de'],
    [['', null, undefined, 'JA'], 'ja'],
    [['sv', 'es-419'], 'es'],
    [['zh-Hans-CN'], 'zh'],
    [['zh-TW'], 'zh'],
    [['pt-BR'], 'pt'],
    [['ar-EG'], 'ar'],
    [['constructor', 'sv'], 'en'],
    [[], 'en'],
  ])('are chosen by the first known language: %j gives %s', (tags, language) => {
    expect(chooseLanguage(tags)).toBe(language);
  });

  test('may be replaced one by one by a page’s own', () => {
    const words = withTexts(en, {
      launcher: 'Ask Ada',
      status: { listening: 'I hear you' },
      errors: { BOT_BLOCKED: 'No.' },
    });
    expect(words).toMatchObject({ launcher: 'Ask Ada', title: en.title });
    expect(words.status).toEqual({ ...en.status, listening: 'I hear you' });
    expect(words.errors).toEqual({ ...en.errors, BOT_BLOCKED: 'No.' });
  });

  test.each([
    ['en', 41.2, 'in 42 seconds'],
    ['de', 119, 'in 119 Sekunden'],
    ['fr', 121, 'dans 3 minutes'],
    ['es', 7201, 'dentro de 3 horas'],
    ['pl', 2, 'za 2 sekundy'],
    ['pl', 5, 'za 5 sekund'],
    ['ar', 2, 'خلال ثانيتين'],
    ['ar', 3, 'خلال 3 ثوانٍ'],
    ['ar', 42, 'خلال 42 ثانية'],
    ['ja', -3, '0 秒後'],
  ])('express a time in %s: %d seconds are "%s"', (language, seconds, text) => {
    expect(timeIn(language, seconds)).toBe(text);
  });
});

describe('What the element says', () => {
  const live: ConversationState = { ...atRest, phase: 'live' };
  const failure = (code: string) => ({ code, userMessage: 'Too many.' }) as NonNullable<ConversationState['error']>;
  const error = failure('RATE_LIMIT_EXCEEDED');

  test.each<[Partial<ConversationState>, string]>([
    [{}, 'listening'],
    [{ isQuiet: true }, 'idle'],
    [{ isQuiet: true, isMuted: true }, 'muted'],
    [{ isMuted: true, isAgentSpeaking: true }, 'speaking'],
    [{ isPush: true }, 'waiting'],
    [{ isPush: true, isQuiet: true }, 'idle'],
    [{ isPush: true, isTalking: true, isAgentSpeaking: true, isQuiet: true }, 'listening'],
    [{ isWritten: true, isMuted: true }, 'reading'],
    [{ isWritten: true, isQuiet: true }, 'idle'],
    [{ isWritten: true, isAgentSpeaking: true }, 'speaking'],
    [{ isThinking: true, isQuiet: true, isMuted: true }, 'thinking'],
    [{ isThinking: true, isAgentSpeaking: true }, 'speaking'],
    [{ isAgentSpeaking: true, isCallAway: true }, 'reconnecting'],
    [{ isServerAway: true }, 'reconnecting'],
    [{ phase: 'connecting', isMuted: true }, 'connecting'],
    [{ phase: 'over', isAgentSpeaking: true }, 'over'],
    [{ phase: 'over', error }, 'failed'],
  ])('%j is %s', (change, status) => {
    expect(statusOf({ ...live, ...change })).toBe(status);
  });

  test('explains an end and a failure in the server’s words, unless the page or the SDK has its own', () => {
    const ended = { reason: 'quota_exceeded', code: 'X', userMessage: 'No more today.' };
    expect(messageOf({ ...live, phase: 'over', ended }, en)).toBe('No more today.');
    expect(messageOf({ ...live, phase: 'over', ended }, withTexts(en, { ends: { quota_exceeded: 'Enough.' } }))).toBe(
      'Enough.',
    );
    expect(messageOf({ ...live, phase: 'over', ended: { ...ended, reason: 'closed_by_client' } }, en)).toBe('');
    expect(messageOf({ ...live, phase: 'over', error }, de)).toBe('Too many.');
    expect(messageOf({ ...live, phase: 'over', error: failure('NETWORK_ERROR') }, de)).toBe(
      'Keine Verbindung. Bitte prüfen Sie Ihr Netzwerk.',
    );
    expect(messageOf({ ...live, notice: error }, en)).toBe('Too many.');
    expect(messageOf(live, en)).toBe('');
  });

  test('counts down to an end, and to when the visitor may try again', () => {
    const warned: ConversationState = { ...live, warning: { reason: 'duration', endsAtMs: 60_000 } };
    expect(warningOf(warned, en, 'en', 1000)).toBe('This conversation ends in 59 seconds.');
    expect(warningOf({ ...live, warning: { reason: 'quota' } }, en, 'en', 0)).toBe('The limit is almost reached.');
    expect(warningOf({ ...live, warning: { reason: 'idle' } }, en, 'en', 0)).toBe('This conversation ends soon.');
    expect(warningOf(live, en, 'en', 0)).toBe('');
    const refused: ConversationState = { ...atRest, phase: 'over', error, retryAtMs: 42_000 };
    expect(retryOf(refused, en, 'en', 500)).toBe('You can try again in 42 seconds.');
    expect(retryOf(refused, en, 'en', 42_000)).toBe('');
  });
});
