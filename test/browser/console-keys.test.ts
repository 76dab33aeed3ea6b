import { afterEach, describe, expect, test, vi } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { soon } from '../support/soon.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings, createSession, operator, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const VIEWER = 'vera@view.example';
const BOSS = 'boss@globex.example';

const key = { id: 'site', key: 'w_globex_site_44444444444444444444444444444444', origin: 'https://globex.example' };
const globex = { id: 'globex', name: 'Globex', widgetKeys: [key], agents: [], admins: [BOSS] };

describe.skipIf(skipped !== undefined)(`What operators ask the console ${skipped ?? ''}`, () => {
  let here: ConsolePage;

  useServer({ ...consoleSettings, VIEWER_EMAILS: '@view.example' }, { tenants: [globex] });

  afterEach(async () => {
    await here.leave();
  });

  /** Posts from the page with its cookie, as a script in the page would. */
  const post = (path: string, body: object): Promise<number> =>
    here.page.evaluate<number>(
      `fetch(${JSON.stringify(path)}, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(body))} }).then(({ status }) => status)`,
    );

  /** @param hit the hit to wait for before Enter, where the page itself finds it; otherwise the service is asked */
  const search = async (text: string, hit?: string): Promise<void> => {
    await here.page.keyboard.press('/');
    await here.page.locator('[role=combobox]:focus').waitFor();
    await here.page.keyboard.insertText(text);
    if (hit !== undefined) await here.page.getByRole('option', { name: hit }).waitFor();
    await here.page.keyboard.press('Enter');
  };

  const link = (name: string | RegExp, inside = '#main') =>
    here.page.locator(inside).getByRole('link', { name }).first();

  const rail = (name: string) => here.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });

  /** Pauses the page and resumes it, which makes it read again all that it shows. */
  async function readAgain(): Promise<void> {
    await here.page.keyboard.press('p');
    await here.page.keyboard.press('p');
  }

  /** Opens the overview as the given operator. */
  async function enter(email = operator()): Promise<void> {
    here = await ConsolePage.enter(browser, server, '/console', { email });
    await here.sees('Overview', 'h1');
  }

  test('why a call was cut off: its id leads to the session, which says why', async () => {
    const id = await createSession(server);
    await enter();
    expect(await post(`/api/operator/sessions/${refOf(id)}/end`, { reason: 'a noisy visitor' })).toBe(200);
    await search(id);
    await here.isAt(`/console/sessions/${refOf(id)}`);
    await here.sees('a noisy visitor', '.why');
    // Only the ref went to the service, not the whole id.
    expect(await here.page.content()).not.toContain(id);
  });

  test('why a request was refused: its request id leads to the refusal', async () => {
    await enter();
    const refused = await here.page.request.post(`${server.direct}/api/session`, { data: { widgetKey: 'w_none' } });
    const requestId = refused.headers()['x-request-id'] ?? '';
    await search(requestId);
    await here.isAt(`/console/refusals/${requestId}`);
  });

  test('what an e-mail address stands for: searched only on Enter, and kept in no URL and no storage', async () => {
    const email = operator();
    await enter(email);
    await here.page.keyboard.press('/');
    const field = here.page.locator('[role=combobox]:focus');
    await field.waitFor();
    await field.fill(email);
    await here.sees('Press Enter to look for this address', 'dialog');
    expect(here.visit.requests).not.toContain('POST /api/operator/search');
    const urls: string[] = [];
    here.page.on('request', (request) => urls.push(request.url()));
    await here.page.keyboard.press('Enter');
    await here.page.getByRole('option').filter({ hasText: 'What they did as an operator' }).waitFor();
    await here.page.getByRole('option').filter({ hasText: 'Login of' }).click();
    await here.isAt(/^\/console\/logins\/auth_/);
    await here.sees(email, 'h1');
    await rail('Audit').click();
    await here.sees('looked for an address', 'tbody');
    expect(await here.page.locator('tbody tr').filter({ hasText: 'looked for' }).locator('code').innerText()).toMatch(
      /^[0-9a-f]{32}$/,
    );
    const kept = await here.page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    for (const text of [...urls, here.page.url(), kept]) expect(decodeURIComponent(text)).not.toContain(email);
  });

  test('where they are logged in: another of their own logins can be ended, and the present one stays', async () => {
    const email = operator();
    await enter(email);
    await here.leave();
    await enter(email);
    await here.button('You and this browser').click();
    await here.page.getByRole('link', { name: 'Your logins' }).click();
    await here.isAt('/console/your-logins');
    const rows = here.page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(2);
    await rows.filter({ hasNotText: 'this browser' }).getByRole('button', { name: 'End…' }).click();
    await here.button('End it').click();
    await expect.poll(() => rows.count()).toBe(1);
    await here.sees('(this browser)', 'tbody');
  });

  test('which addresses only known browsers can log in with: one is lifted, with a reason that the audit keeps', async () => {
    await enter();
    await rail('Logins').click();
    await here.button('Lift an address…').click();
    await here.page.getByLabel('E-mail address').fill('ann@example.com');
    await here.page.getByLabel('Reason, for the audit').fill('she called');
    await here.button('Let it log in').click();
    await here.sees('It may log in again', 'body');
    await rail('Audit').click();
    await here.sees('opened an address to new browsers', 'tbody');
    await here.sees('she called', 'tbody');
  });

  test('whether a key is abused: the list and the key’s page show starts, refusals, networks and spend', async () => {
    await createSession(server);
    await enter();
    await here.page.request.post(`${server.direct}/api/session`, {
      data: { widgetKey: 'w_demo_local_00000000000000000000000000000000' },
      headers: { Origin: 'https://evil.example' },
    });
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await here.page.route(/\/operator\/usage\?/, async (route) => {
      await answered;
      await route.continue();
    });
    await rail('Keys').click();
    await link('local').click();
    await here.isAt('/console/keys/demo/local');
    await here.sees('Sessions started', '#main');
    await here.sees('ORIGIN_MISMATCH', '#main');
    await here.sees('127.0.0.0/24', '#main');
    await here.sees('Spent today', '#main');
    const isReadAgain = async (): Promise<void> => {
      const [again] = await Promise.all([here.page.waitForResponse(/\/operator\/keys\?/), readAgain()]);
      expect(again.status()).toBe(200);
    };
    // The page reads everything again except the usage of a week ago, which no longer changes:
    // first while that answer is pending, then once it is there.
    await isReadAgain();
    const usage = here.page.waitForResponse(/\/operator\/usage\?/);
    answer();
    expect((await usage).status()).toBe(200);
    await isReadAgain();
    expect(here.visit.requests.filter((request) => request.endsWith('/operator/usage'))).toHaveLength(1);
  });

  test('for a new key: it is issued without overrides, copied, paused and resumed, and revoked after typing its id', async () => {
    await enter();
    await rail('Keys').click();
    await here.button('Issue…').waitFor();
    await here.sees('globex/site is open: pages may ask for any model and instructions; nothing bounds', '.matters');
    // The keys go from one tenant's table to the next, and back.
    const focused = (): Promise<string> => here.page.evaluate<string>('document.activeElement.getAttribute("href")');
    for (const next of [
      'demo/local',
      'demo/loopback',
      'demo/take-over-local',
      'demo/take-over-loopback',
      'globex/site',
    ]) {
      await here.page.keyboard.press('j');
      expect(await focused()).toBe(`/console/keys/${next}`);
    }
    await here.page.keyboard.press('k');
    expect(await focused()).toBe('/console/keys/demo/take-over-loopback');
    await here.button('Issue…').click();
    const dialog = here.page.locator('dialog');
    for (const opened of ['Pages may change', 'Nothing bounds', 'They also speak to the provider'])
      expect(await dialog.getByLabel(opened).isChecked()).toBe(false);
    expect(await dialog.getByLabel('A microphone and a speaker').isChecked()).toBe(true);
    await dialog.getByText('Challenges for visitors').click();
    await dialog.getByLabel('Whose challenges').selectOption('Turnstile');
    await dialog.getByLabel('Site key').fill('0x4AAA');
    await dialog.getByLabel('Name of the tenant').fill('captcha');
    expect(await dialog.getByLabel('Least score').count()).toBe(0);
    await dialog.getByLabel('Whose challenges').selectOption('reCAPTCHA v3');
    expect(await dialog.getByLabel('Site key').inputValue()).toBe('');
    await dialog.getByLabel('Site key').fill('6Lc');
    await dialog.getByLabel('Name of the tenant').fill('captcha');
    await dialog.getByLabel('Least score').fill('0.7');
    await dialog.getByLabel('Who is challenged').selectOption('everybody');
    await dialog.getByText('Limits for each visitor').click();
    await dialog.getByLabel('for a new visitor who says nothing').fill('60');
    expect(await violations(here.page)).toEqual([]);
    await dialog.getByLabel('Id, in the tenant').fill('shop');
    await dialog.getByLabel('Origin').fill('https://shop.example/path');
    await here.button('Issue key').click();
    await here.sees('origin', '[role=alert]');
    await dialog.getByLabel('Origin').fill('https://shop.example');
    await here.button('Issue key').click();
    // In this installation pages open the calls themselves.
    await here.sees('must be left out: calls are not heard here', '[role=alert]');
    await dialog.getByLabel('for a new visitor who says nothing').fill('');
    await here.button('Issue key').click();
    await here.sees('Key shop is issued', 'dialog');
    await here.sees(/w_demo_shop_[0-9a-f]{32}/, 'dialog');
    await here.button('Copy the key').waitFor();
    await here.button('Done').click();
    await here.page.locator('tr[data-row="demo/shop"] a').first().click();
    await here.sees('none: pages get the agent as it is', 'dd');
    await here.sees('$200.00 a day', 'dd');
    await here.sees('none: pages are a microphone and a speaker', 'dd');
    await here.sees('recaptcha, always', 'dd');
    await here.sees('Blocked as bots, of both', 'th');
    expect(await here.page.locator('.matter').count()).toBe(0);
    await here.button('Pause…').click();
    await dialog.getByLabel('Reason').fill('a campaign went wrong');
    expect(await violations(here.page)).toEqual([]);
    await here.confirmation('Pause').click();
    await here.sees('paused', '.title-row');
    await here.sees('it opens no new sessions', '.stepped');
    await here.button('Resume…').click();
    await dialog.getByLabel('Reason').fill('it is over');
    await here.confirmation('Resume').click();
    await here.sees('in use', '.title-row');
    await here.button('Revoke…').click();
    await here.sees('No session is live with it', 'dialog');
    await here.sees('for ever', 'dialog');
    await dialog.getByLabel('Reason').fill('the shop closed');
    await dialog.getByLabel('to confirm').fill('site');
    await here.button('Revoke for ever').click();
    expect(await dialog.count()).toBe(1);
    await dialog.getByLabel('to confirm').fill('shop');
    await here.button('Revoke for ever').click();
    await here.sees('Revoked', '.stepped');
    await link('Who did that?').click();
    await here.sees('the shop closed', 'tbody');
    await here.follow('/console/audit?from=-1h');
    await here.sees('the shop closed', 'tbody');
    // "An hour ago" is later every second.
    const asked = async (): Promise<string> => {
      const wanted = here.page.waitForRequest((request) => request.url().includes('/audit?from='));
      const [request] = await Promise.all([wanted, readAgain()]);
      return request.url();
    };
    const before = await asked();
    await vi.waitFor(async () => expect((await asked()) > before).toBe(true), soon);
    await rail('Changes').click();
    await here.sees(/operator\d+@acme.example revoked a key: demo\/shop/, '.changes');
  });

  test('to end all sessions of a tenant: they are counted, counted again if more match, ended in parts, and grouped in the audit', async () => {
    const id = await createSession(server);
    await enter();
    await here.page.goto(`${server.direct}/console/sessions?tenantId=demo`);
    await here.row(refOf(id)).waitFor();
    const live = (await server.live()).length;
    await here.button('End…').click();
    await here.sees(`End ${live} sessions?`, 'dialog h2');
    await here.sees('of the tenant demo', 'dialog');
    await here.page.getByLabel('Reason').fill('the tenant left');
    // Over a tenth more than were counted.
    const more = Math.ceil(live / 10) + 1;
    for (let made = 0; made < more; made += 1) await createSession(server);
    await here.button(`End ${live}`).click();
    await here.sees(`${live + more} match now, ${live} were counted`, '[role=alert]');
    await here.sees(`End ${live + more} sessions?`, 'dialog h2');
    expect(await here.page.getByLabel('Reason').inputValue()).toBe('the tenant left');
    await here.button(`End ${live + more}`).click();
    await here.sees(`${live + more} ended, 0 left`, 'dialog');
    await link('in the audit', 'dialog').click();
    await here.isAt(/^\/console\/audit\?batchId=batch_/);
    await here.page
      .locator('tbody tr')
      .nth(live + more)
      .waitFor();
    // Among other acts they are a single row, which links to them.
    await here.button(/^together:/).click();
    await here.isAt('/console/audit');
    await here.sees(`ended ${live + more} sessions`, 'tbody');
    const ended = here.page.locator(`tbody a[href*="${refOf(id).slice(2)}"]`);
    expect(await ended.count()).toBe(0);
    await link('list them', 'tbody').first().click();
    await ended.click();
    await here.sees('the tenant left', '.why');
  });

  test('who ended a session: the session leads to its row in the audit', async () => {
    const id = await createSession(server);
    const email = operator();
    await enter(email);
    await post(`/api/operator/sessions/${refOf(id)}/end`, { reason: 'asked to' });
    await here.page.goto(`${server.direct}/console/sessions/${refOf(id)}`);
    await link('in the audit').click();
    await here.isAt(`/console/audit?target=${refOf(id)}`);
    await here.sees(email, 'tbody');
    await here.page.locator('tbody tr').first().waitFor();
    expect(await here.page.locator('tbody tr').count()).toBe(1);
  });

  test('what a login did: its events are stepped through, and it is revoked, which ends it', async () => {
    const email = operator();
    const victim = await ConsolePage.enter(browser, server, '/console', { email });
    await enter();
    await rail('Logins').click();
    await here.page.locator('tbody th a').filter({ hasText: email }).click();
    await here.sees('logged in', '.event');
    await here.page.keyboard.press('Home');
    await here.isAt(/\?at=\d+$/);
    await here.page.keyboard.press('End');
    await here.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await here.page.keyboard.press('Y');
    await here.sees('curl copied');
    await here.button('Revoke…').click();
    await here.page.getByLabel('Reason').fill('the laptop was stolen');
    await here.button('Revoke login').click();
    await here.sees('revoked', '.title-row');
    // The server closes the login's feed at once, so the page need not ask.
    await victim.sees('Your login is over', 'dialog');
    await victim.page.reload();
    await victim.isAt('/console/login');
    await victim.visit.end();
  });

  test('for one tenant only: it is chosen in the bar and kept in every address, on a phone too', async () => {
    const ref = refOf(await createSession(server));
    await enter();
    const { page } = here;
    const scope = page.getByLabel('Scope');
    await scope.selectOption('globex');
    await here.isAt('/console?tenantId=globex');
    await here.sees('None is live', '#main');
    for (const [name, seen] of [
      ['Refusals', 'No refusal is like that'],
      ['Usage', 'Nothing was used'],
      ['Changes', 'What moved'],
      ['Audit', 'Nothing was done that is like that'],
      ['Keys', 'Globex'],
      ['Sessions', 'No session is like that'],
    ] as const) {
      await rail(name).click();
      await here.isAt(`/console/${name.toLowerCase()}?tenantId=globex`);
      await here.sees(seen, '#main');
      expect(await page.locator('#main').innerText()).not.toContain('demo/');
    }
    await scope.selectOption('demo');
    await here.isAt('/console/sessions?tenantId=demo');
    await here.row(ref).getByRole('link').click();
    await here.isAt(`/console/sessions/${ref}`);
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await here.isAt('/console/usage?tenantId=demo');
    await page.setViewportSize({ width: 320, height: 640 });
    await here.button('You and this browser').click();
    expect(await scope.inputValue()).toBe('demo');
    await scope.focus();
    await page.keyboard.press('Home');
    await here.isAt('/console/usage');
  });

  test('for a saved filter: it has a name, in the list and in the palette, until it is removed', async () => {
    await enter();
    const { page } = here;
    await here.follow('/console/sessions?state=idle&tenantId=globex');
    await here.button('Save…').click();
    const name = page.getByLabel('Name of the view');
    await name.fill('who@globex.example');
    await name.press('Enter');
    await here.sees('An address is kept nowhere', '[role=alert]');
    await name.fill('Idle at Globex');
    await name.press('Enter');
    await here.sees('View Idle at Globex saved');
    expect(await violations(page)).toEqual([]);
    expect(await here.overflow()).toEqual([0, 0]);
    await page.goto(`${server.direct}/console`);
    await here.sees('Overview', 'h1');
    await search('idle at', 'Idle at Globex');
    await here.isAt('/console/sessions?state=idle&tenantId=globex');
    await here.button('Remove Idle at Globex').click();
    await page.locator('.saved').waitFor({ state: 'detached' });
    const shared = { name: 'Of all', href: '/console/sessions?tenantId=demo', tenantId: 'demo' };
    expect(await post('/api/operator/views', shared)).toBe(201);
    await page.reload();
    const href = (await link('Of all', '.saved').getAttribute('href')) ?? '';
    // Others see this view too, so deleting it asks for confirmation.
    await here.button('Remove Of all').click();
    await here.confirmation('Keep').click();
    await here.button('Remove Of all').click();
    await here.confirmation('Delete').click();
    await page.locator('.saved').waitFor({ state: 'detached' });
    // The whole list would offer to end every session.
    const shows = async (): Promise<void> => {
      await here.sees('There is no such view for you', '[role=alert]');
      expect([await page.getByRole('table').count(), await here.button('End…').count()]).toEqual([0, 0]);
    };
    await here.follow(href);
    await shows();
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await shows();
    await link('See the list without a filter').click();
    await here.isAt('/console/sessions');
    await here.button('End…').waitFor();
    // A view that somebody has saved since the console was opened.
    expect(await post('/api/operator/views', shared)).toBe(201);
    const reply = await page.request.get(`${server.direct}/api/operator/views`);
    const { views } = (await reply.json()) as { readonly views: readonly { readonly id: string }[] };
    await here.follow(`/console/sessions?view=${views[0]?.id}`, shared.href);
    await here.button('End…').waitFor();
  });

  test('as a viewer: all pages, but no whole ids and no addresses of others, and no changes', async () => {
    const id = await createSession(server);
    await enter(VIEWER);
    const answers: string[] = [];
    for (const path of [
      'sessions',
      `sessions/${refOf(id)}`,
      'keys',
      'keys/demo/local',
      'logins',
      'audit',
      'settings',
    ]) {
      await here.page.goto(`${server.direct}/console/${path}`);
      await here.page.locator('h1').waitFor();
      await here.page.locator('table, .why, .columns').first().waitFor();
      answers.push(await here.page.content());
      if (path.startsWith('sessions')) await here.isNoEnd('Your role may look, and ends nothing.');
      for (const name of ['Issue…', 'Revoke…']) expect(await here.button(name).count()).toBe(0);
    }
    for (const path of ['sessions', `sessions/${refOf(id)}`, 'keys', 'logins', 'audit', 'settings', 'overview'])
      answers.push(await (await here.page.request.get(`${server.direct}/api/operator/${path}`)).text());
    expect(answers.join('\n')).toContain(refOf(id));
    for (const whole of [id, 'operator1@acme.example']) expect(answers.join('\n')).not.toContain(whole);
    await here.page.keyboard.press('/');
    await here.page.locator('[role=combobox]').fill('operator1@acme.example');
    await here.sees('Your role does not look for addresses', 'dialog');
    await here.page.keyboard.press('Enter');
    expect(here.visit.requests).not.toContain('POST /api/operator/search');
    for (const [path, body] of [
      [`sessions/${refOf(id)}/end`, { reason: 'x' }],
      ['sessions/end', { filter: {}, all: true, dryRun: true }],
      ['keys', { tenantId: 'demo', id: 'mine', origin: 'https://mine.example' }],
      ['keys/local/revoke', { tenantId: 'demo', reason: 'x' }],
      ['keys/local/pause', { tenantId: 'demo', reason: 'x' }],
      ['keys/local/resume', { tenantId: 'demo', reason: 'x' }],
      ['logins/auth_0000000000000000000000/revoke', {}],
      ['search', { q: 'operator1@acme.example' }],
    ] as const)
      expect([path, await post(`/api/operator/${path}`, body)]).toEqual([path, 403]);
  });

  test('as the admin of a tenant: everything of that tenant, and nothing of others', async () => {
    const id = await createSession(server);
    await enter(BOSS);
    for (const [path, seen] of [
      ['sessions', 'There was no session yet'],
      [`sessions/${refOf(id)}`, 'Nothing is known of this session'],
      ['keys', 'Globex'],
      ['keys/demo/local', 'There is no such key'],
      ['audit', 'Nobody has changed anything yet'],
    ] as const) {
      await here.page.goto(`${server.direct}/console/${path}`);
      await here.sees(seen, '#main');
      expect(await here.page.locator('#main').innerText()).not.toContain('demo/');
    }
    expect(await rail('Logins').count()).toBe(0);
    expect(await rail('Settings').count()).toBe(0);
    expect(await here.button('Issue…').count()).toBe(0);
    await rail('Keys').click();
    await here.button('Issue…').click();
    await here.sees('Issue a key', 'dialog');
    // Only an operator may issue an open key.
    expect(await here.page.locator('dialog').getByLabel('Pages may change').count()).toBe(0);
    await here.button('Cancel').click();
    expect(await post(`/api/operator/sessions/${refOf(id)}/end`, {})).toBe(404);
    expect(await post('/api/operator/keys/local/revoke', { tenantId: 'demo' })).toBe(404);
    expect(await post('/api/operator/logins/auth_0000000000000000000000/revoke', {})).toBe(403);
  });

  test('is shown on pages and dialogs that axe finds nothing wrong with', async () => {
    await createSession(server);
    here = await ConsolePage.enter(browser, server, '/console');
    const { page } = here;
    await here.sees('Overview', 'h1');
    const goTo = async (path: string, seen: string): Promise<void> => {
      await here.follow(`/console/${path}`);
      await here.sees(seen, '#main');
      await here.isClean();
    };
    await goTo('audit?action=key.issue&from=-1h', 'Audit');
    await goTo('keys', 'Refused / h');
    await here.button('Issue…').click();
    await here.sees('Issue a key', 'dialog');
    await page.getByText('Limits for each visitor').click();
    await here.isClean('dialog[open]');
    await goTo('keys/demo/local', 'Against last week');
    await here.button('Revoke…').click();
    await here.sees('live', 'dialog b');
    await here.isClean('dialog[open]');
    await goTo('keys/demo/nowhere', 'There is no such key');
    await goTo('settings', 'MAX_SESSION_MINUTES');
    await goTo('challenges', 'Attempts');
    await page.locator('tbody th a').first().click();
    await here.sees('code sent', '.event');
    await here.isClean();
    await goTo('logins', 'Last used');
    await page.locator('tbody th a').first().click();
    await here.sees('logged in', '.event');
    await here.isClean();
    await goTo('logins/auth_nobody', 'There is no such thing');
    await here.follow('/console/sessions?tenantId=demo');
    await here.button('End…').click();
    await here.sees('of the tenant demo', 'dialog');
    await here.sees('engaged', 'dialog .targets');
    await here.isClean('dialog[open]');
  });

  test('is shown on pages that do not scroll sideways on a phone', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    await here.sees('Overview', 'h1');
    for (const path of ['keys', 'keys/demo/local', 'logins', 'challenges', 'audit', 'settings']) {
      await here.follow(`/console/${path}`);
      await here.page.locator('#main :is(table, .empty)').first().waitFor();
      // A table that has just appeared may still be laid out for the wider window.
      await expect.poll(async () => [path, await here.overflow()]).toEqual([path, [0, 0]]);
    }
  });
});
