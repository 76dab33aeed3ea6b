import { describe, expect, test } from 'vitest';
import { reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { violations } from './axe.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const phone = { width: 360, height: 740 };

describe.skipIf(skipped !== undefined)(`Everybody can use the API reference ${skipped ?? ''}`, () => {
  useServer();

  const open = (options: object): Promise<Visit> =>
    Visit.begin(browser, [server.direct], { reducedMotion: 'reduce', ...options });
  const overflow = ({ page }: Visit): Promise<number> =>
    page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

  test('axe finds nothing wrong with its first page and a page of entries, and nothing scrolls sideways', async () => {
    const visit = await open({ viewport: phone });
    const { page } = visit;
    await page.goto(`${server.direct}/docs`);
    expect(await overflow(visit)).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Contents' }).click();
    await page.getByRole('navigation', { name: 'Contents' }).waitFor();
    expect(await violations(page, { themes: ['light'] })).toEqual([]);
    await page.getByRole('navigation').getByRole('link', { name: 'Back ends' }).click();
    await page.getByRole('heading', { name: 'Back ends', level: 1 }).waitFor();
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
    expect(await overflow(visit)).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Contents' }).click();
    await page.getByRole('link', { name: 'Report usage POST' }).click();
    await page.getByRole('navigation', { name: 'Contents' }).waitFor({ state: 'hidden' });
    await visit.finish();
  });

  test('the keyboard alone finds an entry on another page, clears the search, and chooses a language that is remembered', async () => {
    const visit = await open({ viewport: { width: 1440, height: 900 } });
    const { page } = visit;
    await page.goto(`${server.direct}/docs/reference/pages`);
    const heading = (name: string) => page.getByRole('heading', { name, exact: true });
    await page.keyboard.press('/');
    await page.keyboard.type('iceCandidates-or-nothing');
    await page.getByRole('status').getByText('Nothing has').waitFor();
    await heading('Send heartbeat').waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    await heading('Send heartbeat').waitFor();
    const python = page.locator('#createSession .only-python');
    await python.waitFor({ state: 'hidden' });
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowLeft');
    await python.waitFor();
    await page.reload();
    await python.waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('origin_mismatch www');
    await page.getByRole('link', { name: 'ORIGIN_MISMATCH 403 API reference' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/reference\/errors#ORIGIN_MISMATCH$/);
    await heading('ORIGIN_MISMATCH 403').waitFor();
    await visit.end();
    expect(visit.complaints).toEqual([]);
  });

  test('requests that change nothing can be tried from the page, which shows their status, headers and body', async () => {
    const visit = await open({ viewport: phone });
    const { page } = visit;
    await page.goto(`${server.direct}/docs/reference/health#getHealth`);
    const health = page.locator('#getHealth');
    await health.getByRole('button', { name: 'Try it' }).focus();
    await page.keyboard.press('Enter');
    await health.getByRole('button', { name: 'Send' }).waitFor();
    await page.keyboard.press('Enter');
    await health
      .getByRole('status')
      .getByText(/^200 OK, \d+ ms$/)
      .waitFor();
    expect(await health.getByLabel('Body', { exact: true }).textContent()).toBe('{\n  "ok": true\n}');
    expect(await health.getByLabel('Headers', { exact: true }).textContent()).toMatch(/x-request-id: req_/);

    await page.goto(`${server.direct}/docs/reference/pages`);
    const agent = page.locator('#getAgent');
    await agent.getByRole('button', { name: 'Try it' }).click();
    await agent.getByRole('button', { name: 'Send' }).click();
    await agent.getByLabel('Body', { exact: true }).getByText('"captions"').waitFor();
    await agent.getByLabel('widgetKey').fill('w_nobody&agentId=x');
    await agent.getByRole('button', { name: 'Send' }).click();
    await agent.getByRole('status').getByText('401 Unauthorized').waitFor();
    expect(await agent.getByRole('link', { name: 'Log in to the console' }).count()).toBe(0);

    expect(await page.locator('#createSession, #openSocket').getByRole('button', { name: 'Try it' }).count()).toBe(0);

    await page.goto(`${server.direct}/docs/reference/sessions`);
    const sessions = page.locator('#listSessions');
    await sessions.getByRole('button', { name: 'Try it' }).click();
    await sessions.getByLabel('limit').fill('3');
    await sessions.getByLabel('limit').press('Enter');
    await sessions.getByRole('link', { name: 'Log in to the console' }).waitFor();
    const call = page.locator('#getCall');
    await call.getByRole('button', { name: 'Try it' }).click();
    await call.getByLabel('ref, in the path').fill('../sessions');
    const asked = page.waitForRequest((request) => request.url().includes('/api/operator/calls/'));
    await call.getByRole('button', { name: 'Send' }).click();
    expect((await asked).url()).toBe(`${server.direct}/api/operator/calls/..%2Fsessions`);

    expect(await overflow(visit)).toBe(0);
    await page.evaluate(
      "document.querySelectorAll('.entry').forEach((each) => { if (!each.querySelector('.trying')) each.remove(); })",
    );
    await page.evaluate("document.querySelector('.contents').remove()");
    expect(await violations(page)).toEqual([]);
    await visit.end();
    expect(visit.strangers).toEqual([]);
  });

  test('a guide reads well on a phone in light and dark, and the keyboard searches all guides and the reference from it', async () => {
    const visit = await open({ viewport: phone });
    const { page } = visit;
    await page.goto(`${server.direct}/docs/webhooks`);
    const guide = page.getByRole('heading', { name: 'Webhooks', level: 1 });
    await guide.waitFor();
    expect(await overflow(visit)).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('new visitors');
    await page.getByRole('status').getByText('have “new visitors”').waitFor();
    await guide.waitFor({ state: 'hidden' });
    expect(await overflow(visit)).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await guide.waitFor();
    await page.keyboard.type('rotate webhook secret');
    const found = page.getByRole('link', { name: 'Rotate webhook secret API reference' });
    await found.waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate<string>('document.activeElement.hash')).toBe('#rotateWebhookSecret');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/reference\/webhooks#rotateWebhookSecret$/);
    await page.keyboard.press('/');
    await page.keyboard.type('new visitors');
    await page.getByRole('status').getByText('have “new visitors”').waitFor();
    await page.getByRole('link', { name: '4.5 New visitors Contract' }).click();
    await page.getByRole('heading', { name: '4.5 New visitors' }).waitFor();
    await visit.finish();
  });

  test('addresses lead to entries, including those of the former reference, even without scripts', async () => {
    const visit = await open({ viewport: phone });
    const { page } = visit;
    const top = (id: string) => page.evaluate<number>(`document.getElementById('${id}').getBoundingClientRect().top`);
    await page.goto(`${server.direct}/docs#/Voice%20sessions/createSession`);
    await page.waitForURL(/\/docs\/reference\/pages#createSession$/);
    expect(Math.abs(await top('createSession'))).toBeLessThan(200);
    await page.goto(`${server.direct}/docs#client.attach`);
    await page.waitForURL(/\/docs\/reference\/sockets#client.attach$/);
    expect(Math.abs(await top('client.attach'))).toBeLessThan(200);
    await visit.end();

    const plain = await open({ javaScriptEnabled: false, viewport: phone });
    await plain.page.goto(`${server.direct}/docs#RATE_LIMIT_EXCEEDED`);
    await plain.page.locator('#RATE_LIMIT_EXCEEDED a').click();
    await plain.page.getByRole('heading', { name: 'RATE_LIMIT_EXCEEDED 429' }).waitFor();
    await plain.page.goto(`${server.direct}/docs/reference/pages`);
    await plain.page.getByRole('radio', { name: 'Python' }).check();
    await plain.page.locator('#createSession .only-python').waitFor();
    await plain.page.locator('#createSession .only-curl').waitFor({ state: 'hidden' });
    await plain.end();
  });
});
