import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openBrowser, openBrowserWithoutMicrophone, reasonToSkipBrowser } from '../support/browser.ts';
import { soon } from '../support/soon.ts';
import { violations } from './axe.ts';
import { ElementPage, Website } from './element-page.ts';

const skipped = reasonToSkipBrowser();
const LINK = '<nav><a href="/own">The next page</a></nav>';
/** Counts how often the page asks for a microphone, keeps the last one given and what was sent over data channels, and logs whether sound is allowed. */
const counting = `<script>
  globalThis.asked = 0;
  globalThis.sent = [];
  const send = RTCDataChannel.prototype.send;
  RTCDataChannel.prototype.send = function (event) {
    sent.push(event);
    send.call(this, event);
  };
  const { mediaDevices } = navigator;
  const open = mediaDevices.getUserMedia.bind(mediaDevices);
  globalThis.ask = async (terms) => {
    globalThis.asked += 1;
    return (globalThis.given = await open(terms));
  };
  mediaDevices.getUserMedia = ask;
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    const playing = play.call(this);
    playing.then(() => console.log('sound plays'), ({ name }) => console.log('sound: ' + name));
    return playing;
  };
</script>`;

describe.skipIf(skipped !== undefined).each([
  ['locked', 'none'],
  ['open', 'open'],
])(`A visitor who writes, with a key that is %s ${skipped ?? ''}`, (_name, dataChannel) => {
  let granting: Browser;
  let asking: Browser;
  let site: Website;
  let page: ElementPage;

  beforeAll(async () => {
    [granting, asking, site] = await Promise.all([
      openBrowser(),
      openBrowser('asking'),
      Website.open({}, { call: 'brokered', dataChannel }),
    ]);
  });

  afterEach(() => page.visit.finish());

  afterAll(async () => {
    await Promise.all([granting?.close(), asking?.close()]);
    await site?.close();
  });

  async function open(browser: Browser, options?: BrowserContextOptions): Promise<void> {
    page = await ElementPage.open(browser, site, counting + site.script + site.tag() + LINK, options);
    await page.button('Talk to us').click();
  }

  async function writes(text: string): Promise<void> {
    await page.hasSocket();
    const field = page.visit.page.getByRole('textbox', { name: 'Write a message' });
    await field.fill(text);
    await page.visit.page.keyboard.press('Enter');
    await page.sees('visitor', text);
    await page.sees('agent', text);
  }

  const calls = (): number => page.visit.requests.filter((request) => request === 'POST /api/realtime/calls').length;
  const creates = (): number => page.visit.requests.filter((request) => request === 'POST /api/session').length;

  test('goes on with the keyboard alone after refusing the microphone, and is not asked for it again', async () => {
    await open(asking, { permissions: [] });
    await page.button('Start a conversation').click();
    await page.sees('message', 'Please allow it beside your browser’s address bar');
    expect(await violations(page.visit.page)).toEqual([]);
    await page.button('Write instead').focus();
    await page.visit.page.keyboard.press('Enter');
    // A second press of Enter does not undo the first.
    await page.visit.page.keyboard.press('Enter');
    await page.sees('status', 'Waiting for your message');
    const isInField = `widget.shadowRoot.activeElement.part.contains('text')`;
    await vi.waitFor(async () => expect(await page.run(isInField)).toBe(true), soon);
    expect(await page.button('Mute').isVisible()).toBe(false);
    expect(await violations(page.visit.page)).toEqual([]);
    await writes('Are you open on Sunday?');
    await page.end();
    await page.button('Start a new conversation').click();
    await page.sees('status', 'Waiting for your message');
    expect(await page.run('asked')).toBe(1);
    // The visitor chooses to speak and the browser refuses the microphone again: the written call goes on.
    await page.button('Speak instead').click();
    await page.sees('message', 'Please allow it beside your browser’s address bar');
    await writes('And on Monday?');
    expect([creates(), calls()]).toEqual([2, 2]);
  });

  test('goes on without any microphone', async () => {
    const silent = await openBrowserWithoutMicrophone();
    await open(silent);
    await page.button('Start a conversation').click();
    await page.sees('message', 'Please connect a microphone');
    await page.button('Write instead').click();
    await writes('Are you open on Sunday?');

    // On the next page it is heard at once after a link; after another site, as soon as the visitor touches anything.
    const visited = page.visit.page;
    const sounds: string[] = [];
    visited.on('console', (message) => message.text().startsWith('sound') && sounds.push(message.text()));
    const hears = (...expected: string[]): Promise<void> =>
      vi.waitFor(() => expect(sounds.splice(0)).toEqual(expected), soon);
    await visited.getByText('The next page').click({ force: true });
    await hears('sound plays');
    await page.sees('launcher', 'Waiting for your message');
    await page.hasSocket();
    // Playwright's own scripts count as a touch, so none may run between here and the click.
    await visited.goto(`${site.switchboard}/healthz`);
    await visited.goto(`${site.host.origin}/own`);
    await hears('sound: NotAllowedError');
    await visited.mouse.click(5, 5);
    await hears('sound plays');
    await page.sees('launcher', 'Waiting for your message');
    await silent.close();
  });

  test('changes from speaking to writing and back within one session, and goes on when the microphone is lost', async () => {
    await open(granting);
    await page.button('Start a conversation').click();
    await page.sees('status', /Listening|Assistant is speaking/);
    const id = await page.run('widget.session.id');
    await page.button('Write instead').click();
    await page.sees('status', 'Waiting for your message');
    await page.button('Speak instead').waitFor(soon);
    await writes('Are you open on Sunday?');
    await page.button('Speak instead').click();
    await page.sees('status', /Listening|Assistant is speaking/);
    await page.button('Write instead').waitFor(soon);
    expect(await page.run('widget.session.id')).toBe(id);
    expect([creates(), calls()]).toEqual([1, 3]);
    // The earlier conversation is still shown.
    await page.sees('visitor', 'Are you open on Sunday?');
    await page.run(`(given.getTracks()[0].dispatchEvent(new Event('ended')), 0)`);
    await page.sees('message', 'The microphone is off.');
    await page.sees('status', 'Waiting for your message');
    await page.button('Speak instead').waitFor(soon);
    expect(await page.run('widget.session.id')).toBe(id);
  });

  test('goes on writing when the microphone fails before it is heard, as if there were none', async () => {
    await open(granting);
    await page.run('widget.write()');
    await page.sees('status', 'Waiting for your message');
    const id = await page.run('widget.session.id');
    const speak = page.button('Speak instead');
    const before = async (path: string, expression: string): Promise<void> => {
      await page.visit.page.route(
        `**/api/realtime/${path}`,
        async (route) => {
          await page.run(`(${expression}, 0)`);
          await route.continue();
        },
        { times: 1 },
      );
    };

    // While the page waits for its ticket the only microphone is unplugged: the browser has no other.
    await before(
      'ticket',
      `given.getTracks()[0].stop(), (mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotFoundError')))`,
    );
    await speak.click();
    await page.sees('message', 'Please connect a microphone');
    await writes('Are you open on Sunday?');
    expect([await page.run('asked'), calls()]).toEqual([1, 1]);

    // Another microphone is there.
    await page.run('(mediaDevices.getUserMedia = ask, 0)');
    await before('ticket', 'given.getTracks()[0].stop()');
    await speak.click();
    await page.sees('status', /Listening|Assistant is speaking/);
    expect([await page.run('asked'), await page.run('given.active'), calls()]).toEqual([3, true, 2]);
    await page.button('Write instead').click();
    await page.sees('status', 'Waiting for your message');
    await speak.waitFor(soon);

    // By then the page has given up its written call for the spoken one: it opens another.
    await before('calls', `given.getTracks()[0].dispatchEvent(new Event('ended'))`);
    await speak.click();
    await page.sees('message', 'The microphone is off.');
    await speak.waitFor(soon);
    await writes('And on Monday?');
    expect(await page.run('widget.session.id')).toBe(id);
  });

  test('interrupts the agent while it speaks, with a pointer or with the keyboard alone', async () => {
    await open(granting);
    await page.button('Start a conversation').click();
    const interrupted = async (): Promise<number> =>
      dataChannel === 'none'
        ? page.visit.count('> {"type":"interrupt"}')
        : page.run<number>(`sent.filter((event) => event.includes('"response.cancel"')).length`);
    const interrupt = page.button('Interrupt');
    await page.hasSocket();
    // Chromium's fake microphone beeps every second, and the echo repeats it.
    await interrupt.click();
    await vi.waitFor(async () => expect(await interrupted()).toBe(1), soon);
    await vi.waitFor(async () => {
      // The agent may stop speaking in between.
      await interrupt.focus();
      await page.visit.page.keyboard.press('Enter');
      expect(await interrupted()).toBeGreaterThan(1);
    }, soon);
    await page.run('widget.mute()');
    await interrupt.waitFor({ state: 'hidden', ...soon });
    expect(await page.run(`widget.shadowRoot.activeElement.part.contains('text')`)).toBe(true);
    expect(await page.run('widget.session.state')).toBe('engaged');
  });

  test('goes on writing after following a link, and is not asked for a microphone there', async () => {
    await open(asking, { permissions: [] });
    await page.run('widget.write()');
    await page.sees('status', 'Waiting for your message');
    await writes('Are you open on Sunday?');
    const id = await page.run('widget.session.id');
    const before = await page.run('performance.timeOrigin');
    await page.visit.page.getByText('The next page').click({ force: true });
    await vi.waitFor(async () => expect(await page.run('performance.timeOrigin')).not.toBe(before), soon);
    await page.sees('launcher', 'Waiting for your message');
    expect(await page.run('[widget.session.id, asked, sessionStorage.length]')).toEqual([id, 0, 0]);
  });
});

describe.skipIf(skipped !== undefined)(`A visitor whose session has had its calls ${skipped ?? ''}`, () => {
  test('is told so, and the conversation goes on as it was', async () => {
    const [browser, site] = await Promise.all([
      openBrowser(),
      Website.open({ CALLS_PER_SESSION: '1' }, { call: 'brokered', dataChannel: 'none' }),
    ]);
    const page = await ElementPage.open(browser, site);
    await page.start();
    await page.run('widget.mute()');
    await page.button('Write instead').click();
    await page.sees('message', /\S/);
    expect(await page.run('widget.session.state')).toBe('engaged');
    expect(await page.button('Unmute').isVisible()).toBe(true);
    await page.visit.page.getByRole('textbox', { name: 'Write a message' }).fill('Are you open on Sunday?');
    await page.visit.page.keyboard.press('Enter');
    await page.sees('agent', 'Are you open on Sunday?');
    await page.visit.end();
    await browser.close();
    await site.close();
    expect([page.visit.strangers, page.visit.complaints]).toEqual([[], []]);
  });
});
