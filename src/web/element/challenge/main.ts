import type { Language } from '../../../protocol/error-translations/languages.ts';
import type { AltchaChallenge, Challenge } from '../../../protocol/challenge.ts';
import { askProvider } from './providers.ts';
import { work } from './work.ts';

/** The label of the dialog in which the provider may ask the visitor something. */
const labels: Readonly<Record<Language, string>> = {
  en: 'Please show that you are a person',
  de: 'Bitte zeigen Sie, dass Sie ein Mensch sind',
  fr: 'Veuillez montrer que vous êtes une personne',
  es: 'Demuestre que es una persona',
  pt: 'Mostre que você é uma pessoa',
  it: 'Dimostri di essere una persona',
  nl: 'Laat zien dat u een mens bent',
  pl: 'Proszę potwierdzić, że jest Pan/Pani człowiekiem',
  ja: '人間であることを確認してください',
  zh: '请证明您是真人',
  ko: '사람임을 확인해 주세요',
  ar: 'يُرجى إثبات أنك إنسان',
};

/** How long a visitor may take to solve it. */
const PATIENCE_MS = 2 * 60_000;

/**
 * Solves the challenge of a create that was refused with BOT_BLOCKED, and returns the token for `X-Switchboard-Challenge`.
 * @throws Error if it is not solved, or the provider's script is not loaded
 */
export async function solve(
  challenge: Challenge,
  {
    baseUrl,
    widgetKey,
    language,
  }: { readonly baseUrl: string; readonly widgetKey: string | undefined; readonly language: Language },
): Promise<string> {
  const { provider } = challenge;
  if (provider === 'altcha') {
    const url = `${baseUrl.replace(/\/+$/, '')}/api/realtime/challenge?${new URLSearchParams({ widgetKey: widgetKey ?? '' }).toString()}`;
    const reply = await fetch(url, { credentials: 'omit' });
    return work((await reply.json()) as AltchaChallenge);
  }
  const box = document.createElement('div');
  box.role = 'dialog';
  box.ariaLabel = labels[language];
  Object.assign(box.style, {
    position: 'fixed',
    inset: 'auto 0 16px',
    margin: 'auto',
    width: 'fit-content',
    zIndex: '2147483647',
  });
  document.body.append(box);
  let timer;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the challenge was not solved in time')), PATIENCE_MS);
    });
    return await Promise.race([askProvider({ ...challenge, provider }, box, language), late]);
  } finally {
    clearTimeout(timer);
    box.remove();
  }
}
