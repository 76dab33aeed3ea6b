import { launch, type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DemoServer } from '../support/demo-server.ts';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';
import { PATIENT_MS, soon } from '../support/soon.ts';
import { Website } from './element-page.ts';

const DEMO_KEY = 'w_demo_local_00000000000000000000000000000000';

const findFirefox = (): string => findBinary('firefox-esr', 'firefox-esr');

/** A fake microphone that needs no permission, and peers that find each other on a machine without a network. */
const preferences = {
  // A page makes no sound before it is touched. By default Firefox exempts pages that may use the microphone, which these must for their peers.
  'media.autoplay.blocking_policy': 1,
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  // By default Firefox offers only the address of its route to the internet.
  'permissions.default.microphone': 1,
  'media.peerconnection.ice.default_address_only': false,
  'media.peerconnection.ice.loopback': true,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
};

/** Runs in the page: a conversation that tries everything the SDK offers; resolves with its events. */
const conversation = `(async () => {
  const { connect } = await import('/widget.mjs');
  const told = [];
  const session = await connect({
    widgetKey: '${DEMO_KEY}',
    agentId: 'guide',
    audio: true,
    tools: { show_map: { description: 'Shows a room.', run: ({ room }) => ({ shown: room }) } },
  });
  const until = (holds) =>
    new Promise((resolve, reject) => {
      session.on('media', ({ error }) => error && reject(error));
      const look = () => holds() && resolve();
      for (const type of ['media', 'speaking', 'transcript', 'level']) session.on(type, look);
      look();
    });
  const tells = (type, holds) => until(() => told.some((event) => event[0] === type && holds(event[1])));
  for (const type of ['media', 'speaking', 'transcript', 'error', 'ended']) session.on(type, (event) => told.push([type, event]));
  let level;
  session.on('level', (levels) => (level = levels));
  const call = await session.connectAudio();
  await tells('media', ({ state }) => state === 'connected');
  await tells('speaking', ({ agent }) => agent);
  await until(() => level?.agent > 0.02);
  session.send('Hello there');
  await tells('transcript', ({ who, text, final }) => who === 'agent' && final && text === 'Hello there');
  session.send('show_map {"room":"7"}');
  await tells('transcript', ({ text, final }) => final && text.startsWith('The tool says'));
  session.mute();
  const isMuted = call.stream.getAudioTracks().every(({ enabled }) => !enabled);
  session.mute(false);
  const [microphone] = await session.devices();
  await session.setDevice(microphone.deviceId);
  const heard = call.peer.getSenders()[0].track;
  const isReplaced = heard === call.stream.getAudioTracks()[0] && heard.readyState === 'live' && heard.enabled;
  await session.end();
  return { told, isMuted, isReplaced, isGivenBack: heard.readyState === 'ended' };
})()`;

/** Uses the element on a page of its own, as a visitor does; resolves with what it showed and its events. */
const visit = `(async () => {
  const widget = document.createElement('switchboard-widget');
  for (const [name, value] of Object.entries({ 'widget-key': '${DEMO_KEY}', 'agent-id': 'guide', open: '' })) widget.setAttribute(name, value);
  const told = [];
  let look = () => undefined;
  for (const type of ['state', 'media', 'speaking', 'level', 'transcript', 'error', 'ended'])
    widget.addEventListener('switchboard-' + type, ({ detail }) => {
      told.push([type, detail]);
      look();
    });
  document.body.replaceChildren(widget);
  await import('/switchboard-widget.mjs');
  const part = (name) => widget.shadowRoot.querySelector('[part~="' + name + '"]');
  const shown = () => part('status').textContent;
  const until = (holds) =>
    new Promise((resolve, reject) => {
      look = () => {
        const [, error] = told.find(([type]) => type === 'error') ?? [];
        if (error !== undefined) reject(error);
        if (holds()) resolve();
      };
      look();
    });
  part('start').click();
  await until(() => shown() === 'Assistant is speaking' && Number(part('orb').style.getPropertyValue('--agent')) > 0);
  part('mute').click();
  const isMuted = widget.muted && widget.session.muted;
  await until(() => shown() === 'You are muted');
  part('text').value = 'Hello there';
  part('send').click();
  await until(() => part('captions').textContent.includes('AssistantHello there'));
  part('mute').click();
  await until(() => shown() !== 'You are muted');
  const corner = getComputedStyle(part('panel')).borderTopLeftRadius;
  part('end').click();
  await until(() => shown() === 'Conversation ended' && told.at(-1)?.[0] === 'ended');
  return { isMuted, isUnmuted: !widget.muted, corner, begins: part('start').textContent, isOver: widget.session === undefined, ended: told.at(-1)[1].reason };
})()`;

/**
 * Keeps the element's events from before it exists, and logs whether sound is allowed. Tests poll what the page shows, so that they miss no event.
 */
const noting = `<script>
  globalThis.told = [];
  globalThis.loudest = 0;
  for (const type of ['media', 'transcript', 'error', 'ended'])
    addEventListener('switchboard-' + type, ({ detail }) => told.push([type, JSON.parse(JSON.stringify(detail))]));
  addEventListener('switchboard-level', ({ detail }) => (loudest = Math.max(loudest, detail.agent)));
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    const playing = play.call(this);
    playing.then(() => console.log('sound plays'), ({ name }) => console.log('sound: ' + name));
    return playing;
  };
</script>`;

/** What the page shows of the element. */
const look = `(() => {
  const widget = document.querySelector('switchboard-widget');
  const part = (name) => widget.shadowRoot?.querySelector('[part~="' + name + '"]');
  return {
    id: widget.session?.id,
    transport: widget.session?.transport,
    status: part('status')?.textContent,
    message: part('message')?.textContent,
    captions: part('captions')?.textContent,
    isHeard: globalThis.loudest > 0.02,
    kept: sessionStorage.length,
    told,
  };
})()`;

interface Result {
  readonly told: readonly (readonly [type: string, event: Readonly<Record<string, unknown>>])[];
  readonly isMuted: boolean;
  readonly isReplaced: boolean;
  readonly isGivenBack: boolean;
}

const skipped = reasonToSkip(findFirefox);

function openFirefox(): Promise<Browser> {
  return launch({
    browser: 'firefox',
    executablePath: findFirefox(),
    headless: true,
    extraPrefsFirefox: preferences,
    timeout: PATIENT_MS,
    protocolTimeout: PATIENT_MS,
  });
}

async function openPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENT_MS);
  return page;
}

describe.skipIf(skipped !== undefined)(`The SDK and the element in Firefox ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;

  beforeAll(async () => {
    [browser, server] = await Promise.all([openFirefox(), DemoServer.start({ NODE_ENV: 'development' })]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('talks, writes, runs tools, mutes and changes the microphone', async () => {
    const page = await openPage(browser);
    await page.goto(`${server.direct}/demo`);
    const { told, ...rest } = (await page.evaluate(conversation)) as Result;
    expect(rest).toEqual({ isMuted: true, isReplaced: true, isGivenBack: true });
    expect(told.filter(([type]) => type === 'error')).toEqual([]);
    expect(told.at(-1)).toMatchObject(['ended', { reason: 'closed_by_client' }]);
    const texts = told.filter(([type]) => type === 'transcript').map(([, { text }]) => text);
    expect(texts).toContain('The tool says: {"shown":"7"}');
    await page.close();
  });

  test('a visitor speaks, mutes, writes and ends the conversation in the element', async () => {
    const page = await openPage(browser);
    await page.goto(`${server.direct}/demo`);
    expect(await page.evaluate(visit)).toEqual({
      isMuted: true,
      isUnmuted: true,
      corner: '20px',
      begins: 'Start a new conversation',
      isOver: true,
      ended: 'closed_by_client',
    });
    await page.close();
  });
});

describe.skipIf(skipped !== undefined)(`A locked key in Firefox ${skipped ?? ''}`, () => {
  let browser: Browser;
  let site: Website;

  beforeAll(async () => {
    [browser, site] = await Promise.all([openFirefox(), Website.open({}, { call: 'brokered', dataChannel: 'none' })]);
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  async function open(): Promise<Page> {
    const page = await openPage(browser);
    site.host.own = `<!doctype html><html lang="en"><meta charset="utf-8">${noting}${site.script}${site.tag()}<a href="/own">The next page</a>`;
    await page.goto(`${site.host.origin}/own`);
    return page;
  }

  async function shows(page: Page, expected: object): Promise<{ readonly id: string }> {
    let now: unknown;
    await vi.waitFor(async () => {
      now = await page.evaluate(look);
      expect(now, JSON.stringify(now)).toMatchObject(expected);
    }, soon);
    return now as { readonly id: string };
  }

  const press = (page: Page, part: string): Promise<unknown> =>
    page.evaluate(`document.querySelector('switchboard-widget').shadowRoot.querySelector('[part~="${part}"]').click()`);

  async function write(page: Page, text: string): Promise<void> {
    await page.evaluate(
      `document.querySelector('switchboard-widget').shadowRoot.querySelector('[part~="text"]').value = '${text}'`,
    );
    await press(page, 'send');
    // Captions of what was spoken just before may arrive in between.
    for (const who of ['You', 'Assistant']) await shows(page, { captions: expect.stringContaining(who + text) });
  }

  /** With its socket: over that go texts, and it brings the token with which the next page continues. */
  const isOpen = {
    status: expect.stringMatching(/Listening|Assistant is speaking/),
    isHeard: true,
    transport: 'socket',
  };

  const begin = (page: Page): Promise<unknown> => page.evaluate(`document.querySelector('switchboard-widget').start()`);

  test('takes speech and text, shows what both sides say, and goes on without a microphone', async () => {
    const page = await open();
    await begin(page);
    const { id } = await shows(page, isOpen);
    // Firefox's fake microphone makes a continuous tone: the visitor has finished speaking once they are muted.
    await press(page, 'mute');
    const captions = /You\(\d+\.\d s of speech, which the echo does not transcribe\)Assistant\(\d+\.\d s of speech\)/;
    await shows(page, { captions: expect.stringMatching(captions) });
    await write(page, 'Are you open on Sunday?');
    await press(page, 'instead');
    await shows(page, { id, status: 'Waiting for your message' });
    await write(page, 'And on Monday?');
    await press(page, 'end');
    await shows(page, { status: 'Conversation ended' });
    await page.close();
  });

  test('continues its conversation after the visitor follows a link', async () => {
    const page = await open();
    await begin(page);
    const { id } = await shows(page, { ...isOpen, kept: 0 });
    await Promise.all([page.waitForNavigation(soon), page.evaluate(`document.querySelector('a').click()`)]);
    await shows(page, { ...isOpen, id, kept: 0 });
    // On the next page Firefox asks for the microphone again, and the visitor refuses it.
    site.host.own = `<script>
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'));
    </script>${site.host.own}`;
    await Promise.all([page.waitForNavigation(soon), page.evaluate(`document.querySelector('a').click()`)]);
    await shows(page, { id, status: 'Waiting for your message', message: expect.stringContaining('blocked'), kept: 0 });
    await write(page, 'Are you open on Sunday?');

    // On a page that the visitor has not touched, the agent is heard as soon as they touch anything. Scripts of the test count as a touch.
    const sounds: string[] = [];
    page.on('console', (message) => message.text().startsWith('sound') && sounds.push(message.text()));
    const hears = (sound: string): Promise<void> => vi.waitFor(() => expect(sounds.at(-1)).toBe(sound), soon);
    await page.goto(`${site.switchboard}/healthz`);
    await page.goto(`${site.host.origin}/own`);
    await hears('sound: NotAllowedError');
    await page.mouse.click(5, 5);
    await hears('sound plays');
    await shows(page, { id, status: 'Waiting for your message' });
    await page.close();
  });
});
