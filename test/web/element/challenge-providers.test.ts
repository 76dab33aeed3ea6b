import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Challenge } from '../../../src/protocol/challenge.ts';
import { askProvider } from '../../../src/web/element/challenge/providers.ts';

type Provider = Parameters<typeof askProvider>[0]['provider'];

/** The page, as far as a provider's script knows it. */
interface FakeWindow {
  [name: string]: unknown;
  readonly switchboardChallengeReady?: () => void;
}

let page: FakeWindow;
/** Addresses of the scripts that were loaded. */
let loaded: string[];
/** What each provider's script brings to the page; undefined for a script that the page's policy forbids. */
let brings: object | undefined;

class FakeScript extends EventTarget {
  src = '';
}

beforeEach(() => {
  [page, loaded, brings] = [{}, [], undefined];
  vi.stubGlobal('window', page);
  vi.stubGlobal('document', {
    createElement: () => new FakeScript(),
    head: {
      append(script: FakeScript) {
        loaded.push(script.src);
        queueMicrotask(() => {
          if (brings === undefined) return script.dispatchEvent(new Event('error'));
          Object.assign(page, brings);
          return page.switchboardChallengeReady?.();
        });
      },
    },
  });
});
afterEach(() => vi.unstubAllGlobals());

const box = {} as HTMLElement;

function ask(provider: Provider): Promise<string> {
  const challenge: Challenge = { provider, siteKey: 'site/key', action: 'voice_session', data: 'bound' };
  return askProvider({ ...challenge, provider }, box, 'de');
}

test('hCaptcha is rendered invisibly and executed, and answers through a callback', async () => {
  const rendered: object[] = [];
  const callbacks = new Map<unknown, Record<string, (token?: string) => void>>();
  brings = {
    hcaptcha: {
      render(where: unknown, options: Record<string, (token?: string) => void>) {
        rendered.push({ where, sitekey: options['sitekey'], size: options['size'], hl: options['hl'] });
        callbacks.set('widget', options);
        return 'widget';
      },
      execute: (id: unknown) => callbacks.get(id)?.['callback']?.('token'),
    },
  };
  expect(await ask('hcaptcha')).toBe('token');
  expect(rendered).toEqual([{ where: box, sitekey: 'site/key', size: 'invisible', hl: 'de' }]);
  expect(loaded).toEqual(['https://js.hcaptcha.com/1/api.js?render=explicit&onload=switchboardChallengeReady']);
});

test.each(['error-callback', 'close-callback', 'chalexpired-callback', 'expired-callback'])(
  'A challenge of hCaptcha that ends with its %s is not solved',
  async (callback) => {
    let options: Record<string, () => void> = {};
    brings = {
      hcaptcha: {
        render: (_: unknown, given: typeof options) => (options = given),
        execute: () => options[callback]?.(),
      },
    };
    await expect(ask('hcaptcha')).rejects.toThrow('the challenge was not solved');
  },
);

test('reCAPTCHA is loaded for its site key and executed for the action; its script is loaded once', async () => {
  const execute = vi.fn(() => Promise.resolve('token'));
  brings = { grecaptcha: { execute } };
  expect([await ask('recaptcha'), await ask('recaptcha')]).toEqual(['token', 'token']);
  expect(execute).toHaveBeenCalledWith('site/key', { action: 'voice_session' });
  expect(loaded).toEqual([
    'https://www.google.com/recaptcha/api.js?render=site%2Fkey&onload=switchboardChallengeReady',
  ]);
});

test.each<Provider>(['turnstile', 'hcaptcha', 'recaptcha'])(
  'A script of %s that is not loaded leaves the challenge unsolved',
  async (provider) => {
    await expect(ask(provider)).rejects.toThrow('was not loaded');
  },
);
