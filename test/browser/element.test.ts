import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { soon } from '../support/soon.ts';
import { violations } from './axe.ts';
import { ElementPage, Website } from './element-page.ts';

const skipped = reasonToSkipBrowser();
const listening = /Listening|Assistant is speaking/;

interface Point {
  readonly x: number;
  readonly y: number;
}

describe.skipIf(skipped !== undefined)(`<switchboard-widget> on a website of another origin ${skipped ?? ''}`, () => {
  let browser: Browser;
  let site: Website;
  let page: ElementPage;

  beforeAll(async () => {
    [browser, site] = await Promise.all([openBrowser(), Website.open()]);
  });

  afterEach(() => page.visit.finish());

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const listed = async (): Promise<string> => {
    const { body } = await site.world.backend().get('/api/operator/sessions');
    return body.sessions?.find(({ id }) => id === page.visit.sessionId)?.endReason ?? 'live';
  };

  test('needs nothing but the tag for a conversation: speech, captions, mute, text, and an end by the visitor', async () => {
    page = await ElementPage.open(browser, site, site.script + site.tag(), {
      permissions: ['microphone', 'clipboard-read', 'clipboard-write'],
    });
    await page.run(`(() => {
      globalThis.locks = [];
      // A browser without a screen gives none.
      navigator.wakeLock.request = async () => {
        const lock = { released: false, release: async () => void (lock.released = true) };
        locks.push(lock);
        return lock;
      };
    })()`);
    const locks = (): Promise<readonly boolean[]> => page.run('locks.map(({ released }) => !released)');
    const told = (): Promise<string> => page.run(`widget.shadowRoot.querySelector('[role=status]').textContent`);
    await page.run(`(document.addEventListener('switchboard-ended', ({ detail }) => (globalThis.heard = detail)), 0)`);
    await page.button('Talk to us').waitFor(soon);
    expect(await violations(page.visit.page)).toEqual([]);
    await page.button('Talk to us').click();
    expect(await violations(page.visit.page)).toEqual([]);
    await page.button('Start a conversation').click();
    await page.sees('status', listening);
    // Chromium's fake microphone beeps, and the echo answers.
    await page.sees('status', 'Assistant is speaking');
    const loudness = `Number(widget.shadowRoot.querySelector('.orb').style.getPropertyValue('--agent'))`;
    await vi.waitFor(async () => expect(await page.run(loudness)).toBeGreaterThan(0), soon);

    await page.button('Mute').click();
    await page.sees('status', 'You are muted');
    expect(await page.run('widget.session.muted && widget.muted')).toBe(true);
    await page.visit.page.getByRole('textbox').fill('Are you open on Sunday?');
    await page.visit.page.keyboard.press('Enter');
    await page.sees('visitor', 'Are you open on Sunday?');
    await page.sees('agent', 'Are you open on Sunday?');
    // The screen stays on, even after the page was hidden, which releases the wake lock.
    expect(await locks()).toEqual([true]);
    await page.run('locks[0].release().then(() => document.dispatchEvent(new Event("visibilitychange")))');
    await vi.waitFor(async () => expect(await locks()).toEqual([false, true]), soon);
    await page.button('Copy the conversation').click();
    await page.button('Copied').waitFor(soon);
    expect(await told()).toBe('Copied');
    const copied = await page.run<string>('navigator.clipboard.readText()');
    expect(copied.split('\n')).toContain('You: Are you open on Sunday?');
    expect(copied).toMatch(/^Assistant: .*Are you open on Sunday\?/m);
    expect(await page.visit.page.getByRole('combobox', { name: 'Microphone' }).isVisible()).toBe(true);
    await page.sees('status', 'You are muted');
    expect(await violations(page.visit.page)).toEqual([]);
    await page.button('Captions').click();
    expect(await page.visit.page.getByRole('log').isVisible()).toBe(false);
    await page.button('Captions').click();
    await page.button('Unmute').click();
    await page.sees('status', listening);

    await page.end();
    await page.sees('status', 'Conversation ended');
    await vi.waitFor(async () => expect(await locks()).toEqual([false, false]), soon);
    // The conversation can still be copied; where the browser forbids that, it is selected for the visitor to copy.
    await page.run(`(navigator.clipboard.writeText = () => Promise.reject(new Error('no')), 0)`);
    await page.button(/Copy the conversation|Copied/).click();
    await vi.waitFor(async () => expect(await told()).toBe('The conversation is selected: copy it now.'), soon);
    expect(await page.run('getSelection().toString()')).toContain('Are you open on Sunday?');
    await vi.waitFor(async () => expect(await listed()).toBe('closed_by_client'), soon);
    const rating = async (): Promise<unknown> =>
      (await site.world.backend().get(`/api/operator/sessions/${page.visit.sessionId}`)).body.rating;
    await page.sees('rating', 'How was this conversation?');
    expect([await rating(), await violations(page.visit.page)]).toEqual([null, []]);
    for (const value of [2, 4]) {
      await page.button(`${value} of 5`).press('Enter');
      await page.visit.page.getByRole('button', { name: `${value} of 5`, pressed: true }).waitFor(soon);
      expect([await rating(), await told()]).toEqual([value, 'Thank you!']);
    }
    await page.sees('rating', 'Thank you!');
    expect(await page.run('heard')).toMatchObject({ reason: 'closed_by_client' });
    expect(await page.run('widget.session ?? null')).toBeNull();
    expect(await violations(page.visit.page)).toEqual([]);
    await page.button('Start a new conversation').click();
    await page.sees('status', listening);
    expect(await page.button(/of 5/).count()).toBe(0);
  });

  test('says before a conversation and beside its title that the agent is an AI, and asks the server about it once', async () => {
    const told = (): Promise<readonly string[]> =>
      page.run(`['.disclosure', '.ai'].map((part) => widget.shadowRoot.querySelector(part).textContent)`);
    page = await ElementPage.open(browser, site);
    const question = 'GET /api/realtime/agent';
    await page.button('Talk to us').click();
    await page.sees('disclosure', 'You are talking to an AI, not to a person.');
    await page.sees('ai', 'AI');
    await page.button('Start a conversation').click();
    await page.sees('status', listening);
    expect(await told()).toEqual(['', 'AI']);
    expect(page.visit.requests.filter((request) => request === question)).toHaveLength(1);
    await page.goto(site, site.script + site.tag('open').replace('"support"', '"silent"'));
    await page.sees('status', 'How can we help?');
    await vi.waitFor(async () => expect(await told()).toEqual(['', '']), soon);
  });

  test.each(['held', 'locked-held'])(
    'sends the microphone only while a button is held, for the agent %s',
    async (agent) => {
      page = await ElementPage.open(browser, site, site.script + site.tag('open').replace('"support"', `"${agent}"`));
      const { mouse, keyboard } = page.visit.page;
      await page.sees('hint', 'You hold a button while you speak.');
      await page.run(`(() => {
      const { mediaDevices } = navigator;
      const give = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = async (asked) => (globalThis.given = await give(asked));
      globalThis.loud = 0;
      document.addEventListener('switchboard-level', ({ detail }) => (globalThis.loud += detail.visitor > 0.01 ? 1 : 0));
    })()`);
      const hold = page.button('Hold to speak');
      const isHeard = (): Promise<boolean> => page.run('given.getAudioTracks()[0].enabled');
      const isPressed = (): Promise<unknown> => hold.getAttribute('aria-pressed');
      const press = async (): Promise<void> => {
        await hold.hover();
        await mouse.down();
        await page.sees('status', 'Listening');
      };

      await page.button('Start a conversation').click();
      await page.sees('status', 'Hold the button to speak');
      await page.hasSocket();
      expect([await isHeard(), await isPressed(), await page.button('Mute').isVisible()]).toEqual([
        false,
        'false',
        false,
      ]);
      expect(await violations(page.visit.page)).toEqual([]);
      await press();
      expect([await isHeard(), await isPressed()]).toEqual([true, 'true']);
      expect(await violations(page.visit.page)).toEqual([]);
      // Chromium's fake microphone beeps.
      await vi.waitFor(async () => expect(await page.run('loud')).toBeGreaterThan(10), soon);
      await mouse.up();
      expect([await isHeard(), await isPressed()]).toEqual([false, 'false']);
      await page.sees('visitor', 's of speech');
      await page.sees('agent', 's of speech');

      for (const key of ['Space', 'Enter']) {
        await keyboard.down(key);
        await page.sees('status', 'Listening');
        await keyboard.down(key);
        expect([await isHeard(), await isPressed()]).toEqual([true, 'true']);
        await keyboard.up(key);
        expect([await isHeard(), await isPressed()]).toEqual([false, 'false']);
      }
      await press();
      await mouse.move(0, 0);
      expect([await isHeard(), await isPressed()]).toEqual([false, 'false']);
      await mouse.up();
      await press();
      await page.run('widget.shadowRoot.activeElement.blur()');
      expect([await isHeard(), await isPressed()]).toEqual([false, 'false']);
      await mouse.up();
      // Assistive technology sends clicks: the first turns the button on, the next one off.
      for (const on of [true, false]) {
        await page.run(`widget.shadowRoot.querySelector('.hold').click()`);
        expect([await isHeard(), await isPressed()]).toEqual([on, String(on)]);
      }

      await press();
      await page.run('widget.end()');
      await page.sees('status', 'Conversation ended');
      await mouse.up();
      await page.button('Start a new conversation').click();
      await page.sees('status', 'Hold the button to speak');
      expect([await isHeard(), await isPressed()]).toEqual([false, 'false']);
    },
  );

  test('listens while a finger is on the button, and stops when it lifts, leaves the button or is cancelled', async () => {
    page = await ElementPage.open(
      browser,
      site,
      // The page can scroll, but must not while the button is held.
      `<style>body { height: 300vh; }</style>${site.script}${site.tag('open').replace('"support"', '"locked-held"')}`,
      { permissions: ['microphone'], hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } },
    );
    const fingers = await page.visit.page.context().newCDPSession(page.visit.page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd' | 'touchCancel', ...points: readonly Point[]) =>
      fingers.send('Input.dispatchTouchEvent', { type, touchPoints: points.map((point, id) => ({ ...point, id })) });
    // The call is held back until the socket is attached: what the agent said before that is not shown.
    await page.visit.page.route('**/api/realtime/calls', async (route) => {
      await page.hasSocket();
      await route.continue();
    });
    await page.button('Start a conversation').tap();
    await page.sees('agent', 'Welcome.');
    await page.sees('status', 'Hold the button to speak');
    await page.run(`(() => {
      globalThis.talks = [];
      const { talk } = widget.session;
      widget.session.talk = (on) => talks.push(on) && talk(on);
    })()`);
    const hold = page.button('Hold to speak');
    const box = await hold.boundingBox();
    if (box === null) throw new Error('the button is not there');
    const on = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const away = { x: on.x, y: box.y - 60 };
    const isPressed = (): Promise<unknown> => hold.getAttribute('aria-pressed');
    const press = async (): Promise<void> => {
      await touch('touchStart', on);
      await page.sees('status', 'Listening');
      expect(await isPressed()).toBe('true');
    };

    const nearby = { x: on.x + 20, y: on.y + 8 };
    for (const letGo of [
      // Nobody holds a finger still; without the element's care a browser takes a moving finger for scrolling and cancels the touch.
      async () => {
        await touch('touchMove', nearby);
        expect(await isPressed()).toBe('true');
        await touch('touchEnd');
      },
      async () => {
        await touch('touchMove', away);
        await vi.waitFor(async () => expect(await isPressed()).toBe('false'), soon);
        await touch('touchEnd');
      },
      // A phone call comes in, or the system takes over the gesture.
      () => touch('touchCancel'),
    ]) {
      await press();
      await letGo();
      await page.sees('status', 'Hold the button to speak');
      expect(await isPressed()).toBe('false');
    }
    expect(await page.run('talks')).toEqual([true, false, true, false, true, false]);
    expect(await page.run('scrollY')).toBe(0);
    expect(await page.run(`getSelection().toString()`)).toBe('');
  });

  test('can be used with the keyboard alone, and the conversation goes on while the panel is closed', async () => {
    page = await ElementPage.open(browser, site);
    const { keyboard } = page.visit.page;
    const focused = (): Promise<string> =>
      page.run(
        `(({ part, textContent }) => part.contains('panel') ? 'the panel' : textContent)(widget.shadowRoot.activeElement)`,
      );
    const tabTo = async (words: string): Promise<void> => {
      for (let presses = 0; !(await focused()).includes(words); presses += 1) {
        expect(presses).toBeLessThan(20);
        await keyboard.press('Tab');
      }
    };
    await page.button('Talk to us').waitFor(soon);
    // A browser without wake locks behaves no differently.
    await page.run(`(Object.defineProperty(navigator, 'wakeLock', { value: undefined }), 0)`);
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    expect(await page.visit.page.getByRole('dialog', { name: 'Voice assistant' }).isVisible()).toBe(true);
    expect(await focused()).toBe('Start a conversation');
    // A second press of Enter does not undo the first.
    await keyboard.press('Enter');
    await keyboard.press('Enter');
    await page.sees('status', listening);
    expect(await focused()).toBe('the panel');
    // The panel's focus ring, drawn inside it, is visible all round: what sticks to its bottom does not cover it.
    const atItsEdges = `(() => {
      const { left, right, bottom } = widget.shadowRoot.querySelector('.panel').getBoundingClientRect();
      const points = [[left + 2, bottom - 40], [right - 2, bottom - 40], [(left + right) / 2, bottom - 2]];
      return points.map(([x, y]) => widget.shadowRoot.elementFromPoint(x, y).matches('.panel'));
    })()`;
    expect(await page.run(atItsEdges)).toEqual([true, true, true]);
    await tabTo('Mute');
    await keyboard.press('Enter');
    await page.sees('status', 'You are muted');
    await keyboard.press('Escape');
    expect(await page.visit.page.getByRole('dialog').count()).toBe(0);
    await page.sees('launcher', 'You are muted');
    expect(await focused()).toContain('Open the conversation');
    await keyboard.press('Enter');
    expect(await focused()).toBe('the panel');
    await tabTo('End');
    await keyboard.press('Enter');
    await keyboard.press('Enter');
    await page.sees('status', 'Conversation ended');
    expect(await focused()).toBe('the panel');
    await tabTo('Start a new conversation');
  });

  test('shows a consent line, starts nothing before the visitor agrees, and ends when it is removed from the page', async () => {
    const consent = 'consent="We record this: [privacy](/privacy), [no link](javascript:alert(1))."';
    page = await ElementPage.open(browser, site, site.script + site.tag(consent));
    await page.button('Talk to us').waitFor(soon);
    await page.run('widget.start()');
    await page.sees('consent', 'We record this: privacy, no link');
    expect(await page.visit.page.getByRole('link').evaluateAll((links) => links.map(String))).toEqual([
      `${site.host.origin}/privacy`,
    ]);
    expect(page.visit.requests).not.toContain('POST /api/session');
    await page.button('Agree and start').click();
    await page.sees('status', listening);
    await page.run('widget.remove()').catch(() => 0);
    await vi.waitFor(async () => expect(await listed()).toBe('closed_by_client'), soon);
  });

  test('speaks twelve languages, even on a page that loads the script twice, and accepts other texts', async () => {
    const languages = { en: 'Start a conversation', de: 'Gespräch beginnen', fr: 'Démarrer une conversation' };
    const others = {
      es: 'Iniciar una conversación',
      ja: '会話を始める',
      pt: 'Iniciar uma conversa',
      it: 'Inizia una conversazione',
    };
    const more = {
      nl: 'Gesprek beginnen',
      pl: 'Rozpocznij rozmowę',
      zh: '开始对话',
      ko: '대화 시작',
      ar: 'بدء محادثة',
    };
    const words = Object.entries({ ...languages, ...others, ...more });
    const tags = words.map(([language]) => site.tag(`placement="inline" language="${language}-x"`));
    page = await ElementPage.open(
      browser,
      site,
      site.script + site.script + `<div lang="fr">${site.tag()}</div>` + tags.join(''),
    );
    for (const [, text] of words) await page.button(text).waitFor(soon);
    // Without a language of its own the element takes the page's.
    await page.button('Parlez avec nous').waitFor(soon);
    await page.run(`(widget.texts = { title: 'Une voix', launcher: 'Un mot', status: { ready: 'Bonjour' } }, 0)`);
    await page.button('Un mot').waitFor(soon);
    expect(await violations(page.visit.page)).toEqual([]);
    await page.run(`(widget.setAttribute('language', 'de'), widget.texts = {}, 0)`);
    await page.button('Sprechen Sie mit uns').waitFor(soon);
    // Where the page sets no direction, the element's language decides.
    const turned = (): Promise<string> =>
      page.run(`getComputedStyle(widget.shadowRoot.querySelector('section')).direction`);
    expect(await turned()).toBe('ltr');
    await page.run(`(widget.setAttribute('language', 'ar-EG'), 0)`);
    await page.button('تحدث معنا').waitFor(soon);
    expect(await turned()).toBe('rtl');
    await page.run(`(widget.parentNode.dir = 'ltr', widget.texts = {}, 0)`);
    expect(await turned()).toBe('ltr');
  });

  test('takes its looks and texts from the server’s agent, unless the page overrides them', async () => {
    const tag = (more = ''): string => site.tag(more).replace('"support"', '"dressed"');
    const looks = `(({ left, top }, { backgroundColor, color }) => [left < 100, top < 100, backgroundColor])(
      widget.shadowRoot.querySelector('.launcher').getBoundingClientRect(),
      getComputedStyle(widget.shadowRoot.querySelector('.launcher')))`;
    page = await ElementPage.open(browser, site, site.script + tag());
    // Markup in a text is shown as text.
    await page.button('Ask <b>Ada</b>').waitFor(soon);
    expect(await page.run(looks)).toEqual([true, true, 'rgb(91, 61, 245)']);
    await page.run('widget.start()');
    await page.sees('status', 'Ada is there');
    await page.sees('consent', 'Ada writes it down.');
    expect(page.visit.requests).not.toContain('POST /api/session');

    const own = 'placement="bottom-right" consent=""';
    await page.goto(
      site,
      `<style>switchboard-widget { --switchboard-accent: #123456 }</style>${site.script}${tag(own)}`,
    );
    await page.button('Ask <b>Ada</b>').waitFor(soon);
    expect(await page.run(looks)).toEqual([false, false, 'rgb(18, 52, 86)']);
    await page.run(`(widget.texts = { launcher: 'Ask Bob' }, 0)`);
    await page.button('Ask Bob').click();
    await page.sees('status', 'Ada is there');
    await page.button('Start a conversation').click();
    await page.sees('status', listening);
    await page.run('widget.end()');

    // A page that starts at once still waits for the consent line that its visitor has to agree to.
    await page.goto(site, site.script + tag());
    await page.run(`(addEventListener('DOMContentLoaded', () => widget.start()), widget.start?.(), 0)`);
    await page.sees('consent', 'Ada writes it down.');
    expect(page.visit.requests.filter((request) => request === 'POST /api/session')).toHaveLength(1);
  });

  test('sends requests in the visitor’s language', async () => {
    page = await ElementPage.open(
      browser,
      site,
      site.script + site.tag('language="de" open').replace(/w_\w+/, 'w_unknown'),
    );
    await page.button('Gespräch beginnen').click();
    await page.sees('message', 'Dieser Assistent ist nicht richtig eingerichtet.');
    expect(await violations(page.visit.page)).toEqual([]);
  });

  test.each([
    ['with a sheet of its own', '', ''],
    [
      'with a file, where the browser cannot make one',
      'delete CSSStyleSheet.prototype.replaceSync',
      "; style-src 'self' ORIGIN",
    ],
  ])('works under a strict policy of its page, %s', async (_how, before, styles) => {
    const socket = site.switchboard.replace('http', 'ws');
    const policy = `default-src 'none'; script-src ORIGIN; connect-src ORIGIN ${socket}${styles}`.replaceAll(
      'ORIGIN',
      site.switchboard,
    );
    page = await ElementPage.open(browser, site, '');
    await page.visit.page.addInitScript(before);
    await page.goto(
      site,
      `<meta http-equiv="Content-Security-Policy" content="${policy}">${site.script}${site.tag('language="de"')}`,
    );
    await page.button('Sprechen Sie mit uns').click();
    const corner = `getComputedStyle(widget.shadowRoot.querySelector('.panel')).borderRadius`;
    await vi.waitFor(async () => expect(await page.run(corner)).toBe('20px'), soon);
    await page.button('Gespräch beginnen').click();
    await page.sees('status', /Hört zu|Der Assistent spricht/);
  });

  test('is a sheet on a phone that exceeds neither the screen’s width nor its height', async () => {
    page = await ElementPage.open(browser, site, undefined, {
      permissions: ['microphone'],
      viewport: { width: 360, height: 560 },
    });
    await page.start();
    const box = await page.visit.page.getByRole('dialog').boundingBox();
    expect(box).toMatchObject({ x: 0, width: 360 });
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(560);
    expect(await page.run('document.documentElement.scrollWidth')).toBe(360);
    for (const name of ['Mute', 'End', 'Close']) await page.button(name).click({ trial: true });
  });
});

describe.skipIf(skipped !== undefined)(`<switchboard-widget> that cannot go on ${skipped ?? ''}`, () => {
  let browser: Browser;
  let site: Website;

  beforeAll(async () => {
    const limits = { WIDGET_MAX_TOKENS_DAILY: '30', WIDGET_SESSION_PER_MIN: '1' };
    [browser, site] = await Promise.all([openBrowser('asking'), Website.open(limits)]);
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  test('says that the microphone is refused and what to do, without creating a session', async () => {
    const page = await ElementPage.open(browser, site, site.script + site.tag('open'), { permissions: [] });
    await page.button('Start a conversation').click();
    await page.sees('message', 'Please allow it beside your browser’s address bar');
    await page.sees('status', 'That did not work');
    expect(page.visit.requests).not.toContain('POST /api/session');
    expect(await violations(page.visit.page)).toEqual([]);
    await page.visit.end();
  });

  test('says which limit ended the conversation, until when a limit prevents another, and that the server is away', async () => {
    const page = await ElementPage.open(browser, site);
    await page.start();
    await page.visit.page.getByRole('textbox').fill('Are you open on Sunday?');
    await page.visit.page.keyboard.press('Enter');
    // The echo's first answer uses more than the day's tokens.
    await page.sees('message', 'The limit is reached, so this conversation has ended.');
    await page.sees('status', 'Conversation ended');
    expect(await violations(page.visit.page)).toEqual([]);
    await page.button('Start a new conversation').click();
    await page.sees('status', 'That did not work');
    // The limit per minute, or the day's once that minute has passed.
    await page.sees('message', /You can try again in|Please come back tomorrow/);
    expect(await violations(page.visit.page)).toEqual([]);
    await page.visit.end();

    const away = await ElementPage.open(browser, site);
    await away.button('Talk to us').click();
    await site.world.server.end('SIGKILL');
    await away.button('Start a conversation').click();
    await away.sees('message', 'No connection. Please check your network.');
    await away.visit.end();
  });
});
