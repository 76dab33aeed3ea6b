import type { AltchaChallenge, Challenge } from '../../../protocol/challenge.ts';
import { askProvider } from './providers.ts';
import { work } from './work.ts';

/** What a visitor may be asked in, if the provider asks anything at all. */
const labels: Readonly<Record<string, string>> = {
  en: 'Please show that you are a person',
  de: 'Bitte zeigen Sie, dass Sie ein Mensch sind',
  fr: 'Veuillez montrer que vous êtes une personne',
  es: 'Demuestre que es una persona',
  ja: '人間であることを確認してください',
};

/** A visitor who is asked something may take so long. */
const PATIENCE_MS = 2 * 60_000;

/**
 * Solves the challenge of a create that was refused with BOT_BLOCKED, and gives the token for `X-Switchboard-Challenge`.
 * @throws Error when it is not solved, or what solves it is not loaded
 */
export async function solve(
  challenge: Challenge,
  {
    baseUrl,
    widgetKey,
    language = 'en',
  }: { readonly baseUrl: string; readonly widgetKey: string | undefined; readonly language?: string },
): Promise<string> {
  const { provider } = challenge;
  if (provider === 'altcha') {
    const url = `${baseUrl.replace(/\/+$/, '')}/api/realtime/challenge?${new URLSearchParams({ widgetKey: widgetKey ?? '' }).toString()}`;
    const reply = await fetch(url, { credentials: 'omit' });
    return work((await reply.json()) as AltchaChallenge);
  }
  const box = document.createElement('div');
  box.role = 'dialog';
  box.ariaLabel = labels[language] ?? labels['en'] ?? '';
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
