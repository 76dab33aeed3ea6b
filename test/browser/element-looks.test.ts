import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import type { PageServer } from '../support/page-server.ts';
import { LANGUAGES } from '../../src/protocol/error-translations/languages.ts';
import { violations } from './axe.ts';
import { LooksPage, serveLooks } from './element-looks.ts';
import { moments, type Moment } from './element-moments.ts';

const skipped = reasonToSkipBrowser();
const corners = ['bottom-right', 'bottom-left', 'top-right', 'top-left'];
const desk = { width: 1440, height: 900 };
const phone = { width: 360, height: 640 };
const low = { width: 360, height: 480 };
const across = { width: 640, height: 360 };

const inline = (more: Partial<Moment> = {}): Moment[] =>
  Object.entries(moments).map(([title, moment]) => ({
    ...moment,
    ...more,
    // Landmarks on one page need names of their own.
    texts: { title },
    attributes: { placement: 'inline' },
  }));
const opened = (moment: Moment | undefined, placement = ''): Moment => ({
  ...moment,
  attributes: { open: '', placement },
});

/** The buttons that a visitor cannot press without scrolling. */
const buttonsOutOfSight = `[...root.querySelectorAll('button')].filter((one) => one.checkVisibility()).filter((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const isOnScreen = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
  return !isOnScreen || !one.contains(root.elementFromPoint((left + right) / 2, (top + bottom) / 2));
}).map((one) => one.className)`;
/** Whether nothing covers the middle of a part. */
const isInSight = (part: string): string => `(() => {
  const one = root.querySelector('${part}');
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return one.contains(root.elementFromPoint((left + right) / 2, (top + bottom) / 2));
})()`;
/** Whatever is wider than its own box. */
const tooWide = `[...root.querySelectorAll('.panel, .panel *')].filter((one) => one.checkVisibility() && !one.closest('.orb, select, svg') && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline').map((one) => one.className || one.localName)`;

describe.skipIf(skipped !== undefined)(`The looks of <switchboard-widget> ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: PageServer;

  beforeAll(async () => {
    [browser, server] = await Promise.all([openBrowser(), serveLooks()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function see(
    attributes: string,
    options: BrowserContextOptions,
    look: (page: LooksPage) => Promise<void>,
  ): Promise<void> {
    const page = await LooksPage.open(browser, server, attributes, options);
    await look(page);
    await page.visit.end();
    expect([...page.visit.strangers, ...page.visit.complaints]).toEqual([]);
  }

  test('at each moment of a conversation have their own words and buttons, and no fault that axe finds, light and dark', async () => {
    await see('class="all"', { viewport: desk }, async (page) => {
      await page.show(...inline());
      const said = await page.each<string>(
        `['.status', '.hint', '.warning', '.message', '.start', '.hold', '.mute', '.end', '.instead', '.microphone', '.text', '.interrupt', '.rating'].map((part) => root.querySelector(part)).filter((one) => one.checkVisibility()).map((one) => one.placeholder || one.title || one.selectedOptions?.[0].text || one.innerText.replaceAll(/\\s+/g, ' ')).join(' | ')`,
      );
      const names = Object.keys(moments);
      expect(Object.fromEntries(said.map((words, at) => [names[at], words]))).toMatchSnapshot();
      expect(await page.each(tooWide)).toEqual(names.map(() => []));
      await page.keep('all');
      expect(await violations(page.visit.page)).toEqual([]);
    });
  });

  test('leave every button in sight on a desk and on a phone, also one that is low or held across, and warn above what was said', async () => {
    for (const [shape, viewport] of Object.entries({ desk, phone, low, across })) {
      await see('', { viewport }, async (page) => {
        for (const [name, moment] of Object.entries(moments)) {
          await page.show(opened(moment));
          await page.keep(`${shape}-${name}`);
          const [hidden] = await page.each(buttonsOutOfSight);
          expect(hidden, `${shape} ${name}`).toEqual([]);
        }
        await page.show(opened(moments['warned-duration']));
        expect(await page.each(isInSight('.warning p')), shape).toEqual([true]);
      });
    }
  });

  test('keep to their corner, or to the width of a phone', async () => {
    await see('', { viewport: desk }, async (page) => {
      await page.show(...corners.map((placement) => ({ attributes: { placement } })));
      await page.keep('corners-closed');
      const corner = `(({ left, top }) => (top < 450 ? 'top-' : 'bottom-') + (left < 720 ? 'left' : 'right'))(root.querySelector('section').getBoundingClientRect())`;
      expect(await page.each(corner)).toEqual(corners);
      await page.show(...corners.map((placement) => opened(moments['listening'], placement)));
      await page.keep('corners-open');
      expect(await page.each(corner)).toEqual(corners);
    });
  });

  test('have room for long words, and letters twice as large', async () => {
    await see('class="all"', { viewport: { width: 360, height: 800 } }, async (page) => {
      const word = 'Donaudampfschifffahrtsgesellschaftskapitänsmütze';
      const said: Moment['captions'] = [{ who: 'agent', text: word, final: true }];
      const long = { title: word, status: { listening: word, over: word }, warning: { quota: word } };
      const fullest = ['consent', 'muted', 'to-hold'];
      const inEach = LANGUAGES.flatMap((language) =>
        fullest.map((name) => ({ ...moments[name], language, attributes: { placement: 'inline' } })),
      );
      await page.show(...inline({ language: 'de' }), ...inline({ language: 'ja' }), ...inEach, {
        ...moments['warned-quota'],
        captions: said,
        texts: long,
        attributes: { placement: 'inline' },
      });
      await page.keep('long-words');
      expect((await page.each<readonly string[]>(tooWide)).flat()).toEqual([]);
      await page.visit.page.addStyleTag({ content: 'switchboard-widget { font-size: 200% !important }' });
      await page.keep('large');
      expect((await page.each<readonly string[]>(tooWide)).flat()).toEqual([]);
    });
  });

  test('turn with a page that is written from right to left, and each text keeps its own direction', async () => {
    await see('class="all" dir="rtl"', { viewport: desk }, async (page) => {
      await page.show(...inline());
      await page.keep('right-to-left');
      const [, , , , sides] = await page.each<readonly number[]>(
        `['.mute', '.end', '.log .agent', '.log .visitor'].map((part) => root.querySelector(part)?.getBoundingClientRect().right)`,
      );
      const [mute = 0, end = 0, agent = 0, visitor = 0] = sides ?? [];
      expect([mute > end, agent > visitor]).toEqual([true, true]);
      // Each text keeps its direction: an English sentence still ends on the right.
      const mark = `(() => { const range = document.createRange(); const text = root.querySelector('.status').firstChild; const box = (at) => (range.setStart(text, at), range.setEnd(text, at + 1), range.getBoundingClientRect().left); return box(0) < box(text.length - 1); })()`;
      expect(await page.each(mark)).toEqual(Object.keys(moments).map(() => true));
    });
  });

  test('turn with a language that is written from right to left, on a page that says no direction', async () => {
    for (const [shape, viewport] of Object.entries({ desk, phone })) {
      await see('', { viewport }, async (page) => {
        const said: Moment['captions'] = [
          { who: 'agent', text: 'مرحبًا، هنا البلدية. كيف يمكنني مساعدتك؟', final: true },
          { who: 'visitor', text: 'Do you speak English? 24/7?', final: true },
        ];
        const ready: Moment = { language: 'ar', attributes: { open: '' } };
        const live = { ...moments['warned-duration'], ...ready, captions: said, texts: { title: 'Town hall' } };
        for (const moment of [ready, live]) {
          await page.show(moment);
          await page.keep(`arabic-${shape}-${moment === live ? 'live' : 'ready'}`);
          expect((await page.each<readonly string[]>(tooWide)).flat()).toEqual([]);
          expect((await page.each<readonly string[]>(buttonsOutOfSight)).flat()).toEqual([]);
        }
        const lefts = `['.mute', '.end', '.title', '.close', '.log .agent', '.log .visitor'].map((part) => root.querySelector(part).getBoundingClientRect().left)`;
        const [[mute, end, title, close, agent, visitor]] = (await page.each<readonly number[]>(lefts)) as [number[]];
        expect([mute! > end!, title! > close!, agent! > visitor!]).toEqual([true, true, true]);
      });
    }
  });

  test('ask once more, in place and for a few seconds, before what is being said is cut off by an end', async () => {
    await see('', { viewport: phone }, async (page) => {
      await page.visit.page.clock.install();
      const shown = (): Promise<unknown> =>
        page.each(
          `[root.querySelector('.end').innerText, root.querySelector('[role=status]').textContent, host.hasAttribute('ended')]`,
        );
      const press = async (): Promise<unknown> => {
        await page.visit.page.getByRole('button', { name: /^End/ }).click();
        return shown();
      };
      const asked = ['End now?', 'Press again to end the conversation.', false];
      for (const name of ['agent-speaking', 'agent-pausing', 'visitor-speaking']) {
        await page.show(opened(moments[name]));
        expect(await press(), name).toEqual([asked]);
        await page.keep('asked-to-end');
        await page.visit.page.clock.fastForward(5000);
        expect(await shown(), name).toEqual([['End', asked[1], false]]);
        expect(await press(), name).toEqual([asked]);
        expect(await press(), name).toEqual([['End', asked[1], true]]);
      }
      for (const name of ['listening', 'connecting']) {
        await page.show(opened(moments[name]));
        await page.visit.page.getByRole('button', { name: /^(?:End|Cancel)$/ }).click();
        expect(await page.each(`host.hasAttribute('ended')`), name).toEqual([true]);
      }
      await page.show(opened({ ...moments['muted'], state: { ...moments['muted']?.state, isVisitorSpeaking: true } }));
      expect(await press()).toMatchObject([['End', expect.any(String), true]]);
    });
  });

  test('lose neither the picture nor the edges to forced colours', async () => {
    await see('class="all"', { viewport: desk, forcedColors: 'active' }, async (page) => {
      await page.show(...inline());
      await page.keep('forced-colours');
      const seen = `[getComputedStyle(root.querySelector('.ball')).backgroundColor, ...['.panel', '.start', '.end', '.log p', '.note'].map((part) => root.querySelector(part)).filter((one) => one?.checkVisibility()).map((one) => getComputedStyle(one).borderTopColor !== getComputedStyle(one.closest('.panel')).backgroundColor)]`;
      const all = new Set((await page.each<readonly (string | boolean)[]>(seen)).flat());
      expect(all).toEqual(new Set(['rgb(11, 102, 81)', true]));
    });
  });

  test('mark who speaks without moving, for those who want it still', async () => {
    await see('class="all"', { viewport: desk, reducedMotion: 'reduce' }, async (page) => {
      await page.show(...inline());
      await page.keep('still');
      const orb = `[...root.querySelectorAll('.orb, .orb *')].map((one) => (({ animationName, transitionProperty, transitionDuration, transform, opacity }) => [animationName, transitionDuration, transform, opacity].join(' '))(getComputedStyle(one))).join()`;
      const before = await page.each<string>(orb);
      const still = before[Object.keys(moments).indexOf('listening')];
      const speaking = ['agent-speaking', 'visitor-speaking'].map((name) => before[Object.keys(moments).indexOf(name)]);
      expect(new Set([still, ...speaking]).size).toBe(3);
      expect(before.join()).not.toMatch(/turn|beat|140ms|0\.14s/);
      const louder = inline().map((moment) => ({ ...moment, levels: { visitor: 0.3, agent: 0.3 } }));
      await page.show(...louder);
      expect(await page.each(orb)).toEqual(before);
    });
  });

  test('show the end of what was said, also after it was hidden, and no turn twice', async () => {
    await see('class="all"', { viewport: desk }, async (page) => {
      await page.show({ ...moments['agent-speaking'], attributes: { placement: 'inline' } });
      expect(await page.each(isInSight('.captions > :first-child p'))).toEqual([true]);
      await page.each(`root.querySelector('.captions').hidden = true`);
      await page.each(`root.querySelector('.captions').hidden = false`);
      expect(await page.each(isInSight('.captions > :first-child p'))).toEqual([true]);
      // That the agent was interrupted may be told after its last word.
      const [greeting, question] = moments['agent-speaking']?.captions ?? [];
      const told = [{ ...greeting!, id: 'a' }, question!, { ...greeting!, id: 'a' }];
      await page.show({ ...moments['agent-speaking'], captions: told, attributes: { placement: 'inline' } });
      const said = `[...root.querySelectorAll('.log p span')].map((one) => one.textContent)`;
      expect(await page.each(said)).toEqual([[greeting!.text, question!.text]]);
    });
  });

  test('follow custom properties of anything around the element, which its own win over, in both themes', async () => {
    await see('class="all"', { viewport: desk }, async (page) => {
      const colours = `['--_accent', '--_ink', '--_radius'].map((name) => getComputedStyle(host).getPropertyValue(name).trim())`;
      const themes: Moment[] = [{}, { attributes: { theme: 'light' } }, { attributes: { theme: 'dark' } }];
      await page.show(...themes);
      const light = ['#0b6651', '#1c211e', '1.25em'];
      const dark = ['#63c8a9', '#e9ece6', '1.25em'];
      expect(await page.each(colours)).toEqual([light, light, dark]);
      await page.visit.page.emulateMedia({ colorScheme: 'dark' });
      expect(await page.each(colours)).toEqual([dark, light, dark]);
      await page.visit.page.addStyleTag({
        content: `:root { --switchboard-accent: #123456; --switchboard-radius: 3px } [theme='dark'] { --switchboard-accent: #abcdef }`,
      });
      expect(await page.each(colours)).toEqual([
        ['#123456', '#e9ece6', '3px'],
        ['#123456', '#1c211e', '3px'],
        ['#abcdef', '#e9ece6', '3px'],
      ]);
      const button = `getComputedStyle(root.querySelector('.launcher')).backgroundColor`;
      expect(await page.each(button)).toEqual(['rgb(18, 52, 86)', 'rgb(18, 52, 86)', 'rgb(171, 205, 239)']);
      // The orb has the accent's colour as well, unless it is given one of its own.
      const ball = `getComputedStyle(root.querySelector('.ball')).backgroundColor`;
      const glow = `getComputedStyle(root.querySelector('.glow')).backgroundColor`;
      expect(await page.each(ball)).toEqual(['rgb(18, 52, 86)', 'rgb(18, 52, 86)', 'rgb(171, 205, 239)']);
      expect(await page.each(glow)).not.toContain('rgb(127, 220, 191)');
      await page.keep('accent');
      await page.visit.page.addStyleTag({ content: ':root { --switchboard-orb-1: #010203 }' });
      expect(new Set(await page.each(ball))).toEqual(new Set(['rgb(1, 2, 3)']));
    });
  });
});
