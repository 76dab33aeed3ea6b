import type { Challenge, ChallengeProvider } from '../../../protocol/challenge.ts';

interface Rendered {
  readonly [option: string]: unknown;
}

/** The parts of the providers' scripts that are used here. */
interface Globals {
  turnstile?: { render(box: HTMLElement, options: Rendered): unknown };
  hcaptcha?: { render(box: HTMLElement, options: Rendered): unknown; execute(id: unknown): void };
  grecaptcha?: { execute(siteKey: string, options: Rendered): Promise<string> };
  switchboardChallengeReady?: () => void;
}

type Solve = (page: Globals, challenge: Challenge, box: HTMLElement, language: string) => Promise<string>;

/** Turns a provider's callbacks into a promise of the token. */
function token(ask: (callbacks: Rendered) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error('the challenge was not solved'));
    ask({
      callback: resolve,
      'error-callback': fail,
      'expired-callback': fail,
      'timeout-callback': fail,
      'chalexpired-callback': fail,
      'close-callback': fail,
    });
  });
}

const providers: Readonly<
  Record<Exclude<ChallengeProvider, 'altcha'>, readonly [name: keyof Globals, url: string, solve: Solve]>
> = {
  turnstile: [
    'turnstile',
    'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
    (page, { siteKey, action, data }, box, language) =>
      token((callbacks) =>
        page.turnstile?.render(box, {
          sitekey: siteKey,
          action,
          cData: data,
          language,
          appearance: 'interaction-only',
          ...callbacks,
        }),
      ),
  ],
  hcaptcha: [
    'hcaptcha',
    'https://js.hcaptcha.com/1/api.js?render=explicit',
    (page, { siteKey }, box, hl) =>
      token((callbacks) =>
        page.hcaptcha?.execute(page.hcaptcha.render(box, { sitekey: siteKey, size: 'invisible', hl, ...callbacks })),
      ),
  ],
  recaptcha: [
    'grecaptcha',
    'https://www.google.com/recaptcha/api.js?render=',
    async (page, { siteKey = '', action }) => (await page.grecaptcha?.execute(siteKey, { action })) ?? '',
  ],
};

/** Lets the provider's own script, loaded from its own address, solve the challenge. @param box where it may ask the visitor something */
export async function askProvider(
  challenge: Challenge & { readonly provider: keyof typeof providers },
  box: HTMLElement,
  language: string,
): Promise<string> {
  const [name, url, solve] = providers[challenge.provider];
  const page = window as Globals;
  if (page[name] === undefined)
    await load(page, name === 'grecaptcha' ? url + encodeURIComponent(challenge.siteKey ?? '') : url);
  return solve(page, challenge, box, language);
}

function load(page: Globals, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    page.switchboardChallengeReady = () => resolve();
    script.addEventListener('error', () => reject(new Error(`${url} was not loaded`)));
    script.src = `${url}&onload=switchboardChallengeReady`;
    document.head.append(script);
  });
}
