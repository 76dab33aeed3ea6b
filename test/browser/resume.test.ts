import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { soon } from '../support/soon.ts';
import { ElementPage, Website } from './element-page.ts';

const skipped = reasonToSkipBrowser();
const LINK = '<a href="/own">The next page</a>';
const NO_MICROPHONE = `<script>
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'));
</script>`;

describe.skipIf(skipped !== undefined)(`A conversation with a locked key ${skipped ?? ''}`, () => {
  let browser: Browser;
  let site: Website;
  let page: ElementPage;

  beforeAll(async () => {
    [browser, site] = await Promise.all([
      openBrowser(),
      Website.open({ RATE_BURST: '100' }, { call: 'brokered', dataChannel: 'none' }),
    ]);
  });

  afterEach(() => page.visit.finish());

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const sessions = async (): Promise<{ id: string; endReason: string | null }[]> => {
    const { body } = await site.world.backend().get('/api/operator/sessions');
    return (body.sessions ?? []).map(({ id, endReason }: { id: string; endReason?: string | null }) => ({
      id,
      endReason: endReason ?? null,
    }));
  };
  const endOf = async (id: string): Promise<string | null | undefined> =>
    (await sessions()).find((one) => one.id === id)?.endReason;
  const isHeard = async (): Promise<void> => {
    const loudness = `Number(widget.shadowRoot.querySelector('.orb').style.getPropertyValue('--agent'))`;
    await vi.waitFor(async () => expect(await page.run(loudness)).toBeGreaterThan(0), soon);
  };
  const follow = async (): Promise<void> => {
    const before = await page.run('performance.timeOrigin');
    await page.visit.page.getByText('The next page').click({ force: true });
    await vi.waitFor(async () => expect(await page.run('performance.timeOrigin')).not.toBe(before), soon);
  };
  const resumed = (): Promise<void> =>
    vi.waitFor(async () => expect(await page.run('widget.session?.state ?? "none"')).toBe('engaged'), soon);

  test('opens without a data channel, is heard, writes, shows what both say, and ends', async () => {
    page = await ElementPage.open(browser, site);
    await page.start();
    await isHeard();
    const id = await page.run('widget.session.id');
    // Chromium's fake microphone beeps: the visitor has finished speaking once they are muted.
    await page.button('Mute').click();
    await page.sees('visitor', /\(\d+\.\d s of speech, which the echo does not transcribe\)/);
    await page.sees('agent', /\(\d+\.\d s of speech\)/);
    await page.visit.page.getByRole('textbox').fill('Are you open on Sunday?');
    await page.visit.page.keyboard.press('Enter');
    await page.sees('visitor', 'Are you open on Sunday?');
    // The echo repeats what it is told.
    await page.sees('agent', 'Are you open on Sunday?');
    // The twenty-first text of a minute is refused: the visitor gets it back, before what they have written since.
    await page.run(`Array.from({ length: 19 }, (_, at) => widget.session.send('And on day ' + at + '?')).length`);
    await page.visit.page.getByRole('textbox').fill('And when?');
    await page.run(`(({ form }) => form.requestSubmit())(widget.shadowRoot.querySelector('.text')),
      (widget.shadowRoot.querySelector('.text').value = 'Please')`);
    await page.sees('message', 'Too many requests. Please wait a moment and try again.');
    expect(await page.visit.page.getByRole('textbox').inputValue()).toBe('And when? Please');
    await page.end();
    await page.sees('status', 'Conversation ended');
    await vi.waitFor(async () => expect(await endOf(String(id))).toBe('closed_by_client'), soon);
  });

  test('continues as one session after links on the same site, with nothing left in the browser’s storage', async () => {
    page = await ElementPage.open(browser, site, site.script + site.tag() + LINK);
    const count = (await sessions()).length;
    await page.start();
    await isHeard();
    const id = await page.run('widget.session.id');
    for (let links = 0; links < 2; links += 1) {
      await page.hasSocket();
      expect(await page.run('[sessionStorage.length, localStorage.length, document.cookie]')).toEqual([0, 0, '']);
      await follow();
      await resumed();
      expect(await page.run('widget.session.id')).toBe(id);
      expect(await page.run('widget.open')).toBe(false);
      await isHeard();
    }
    await page.hasSocket();
    // On the last page the visitor gets no microphone, and goes on in writing.
    site.host.own = NO_MICROPHONE + site.host.own;
    await follow();
    await page.sees('launcher', 'Waiting for your message');
    await page.button(/Open the conversation/).click();
    await page.sees('message', 'Please allow it beside your browser’s address bar');
    await page.visit.page.getByRole('textbox').fill('Are you open on Sunday?');
    await page.visit.page.keyboard.press('Enter');
    await page.sees('agent', 'Are you open on Sunday?');
    expect(await page.run('widget.session.id')).toBe(id);
    expect(await sessions()).toHaveLength(count + 1);
    expect(await endOf(String(id))).toBeNull();
    await page.run('widget.end()');
    await vi.waitFor(async () => expect(await endOf(String(id))).toBe('closed_by_client'), soon);
    await follow();
    await page.button('Talk to us').waitFor(soon);
    expect(await page.run('widget.session ?? null')).toBeNull();
  });

  test('ends with its page if the page says so', async () => {
    page = await ElementPage.open(browser, site, site.script + site.tag('resume="off"') + LINK);
    await page.start();
    const id = await page.run('widget.session.id');
    await follow();
    await vi.waitFor(async () => expect(await endOf(String(id))).toBe('closed_by_client'), soon);
    expect(await page.run('[widget.session ?? null, sessionStorage.length]')).toEqual([null, 0]);
  });

  test('starts nothing on the next page once its session is over', async () => {
    page = await ElementPage.open(browser, site, site.script + site.tag() + LINK);
    await page.start();
    const id = String(await page.run('widget.session.id'));
    const count = (await sessions()).length;
    // The session ends while the visitor is on a page without the element.
    site.host.own = '<a href="/own">The next page</a>';
    await follow();
    await site.world.backend().post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, {});
    site.host.own = `<html lang="en">${site.script}${site.tag()}`;
    const answered = page.visit.page.waitForResponse((reply) => reply.url().endsWith('/api/session'));
    await page.visit.page.getByText('The next page').click();
    expect((await answered).status()).toBe(409);
    await page.button('Talk to us').waitFor(soon);
    expect(await page.run('widget.session ?? null')).toBeNull();
    expect(await sessions()).toHaveLength(count);
    page.visit.complaints.splice(0);
  });
});
