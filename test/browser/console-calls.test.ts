import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { serviceToken } from '../support/demo-server.ts';
import { TestProvider } from '../support/provider.ts';
import type { TestCall } from '../support/provider/call.ts';
import { offerSdp } from '../support/provider/sdp.ts';
import { soon } from '../support/soon.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const SERVICE = { 'Content-Type': 'application/json', Authorization: `Bearer ${serviceToken}` };
const USAGE = {
  total_tokens: 30_000,
  input_tokens: 10_000,
  output_tokens: 20_000,
  input_token_details: { text_tokens: 0, audio_tokens: 10_000, cached_tokens: 0 },
  output_token_details: { text_tokens: 0, audio_tokens: 20_000 },
};

describe.skipIf(skipped !== undefined)(`The console's calls ${skipped ?? ''}`, () => {
  let provider: TestProvider;
  let here: ConsolePage;

  beforeAll(async () => {
    provider = await TestProvider.start();
  });

  useServer(() => ({
    ...consoleSettings,
    CALL_MODE: 'brokered',
    UPSTREAM_PROVIDER: 'openai',
    OPENAI_API_KEY: provider.apiKey,
    UPSTREAM_BASE_URL: provider.baseUrl,
    WIDGET_MAX_DOLLARS_DAILY: '1000',
    WIDGET_MAX_TOKENS_DAILY: '100000000',
  }));

  afterEach(async () => {
    await here.leave();
  });

  afterAll(async () => {
    await provider?.close();
  });

  interface Opened {
    readonly session: string;
    readonly ref: string;
    readonly call: TestCall;
  }

  /** Issues a key whose pages have no data channel. @returns the key and the origin that its pages send */
  async function lockedKey(): Promise<{ readonly widgetKey: string; readonly origin: string }> {
    const origin = 'https://locked.example';
    const body = JSON.stringify({ tenantId: 'demo', id: 'locked', origin });
    const reply = await fetch(`${server.direct}/api/operator/keys`, { method: 'POST', headers: SERVICE, body });
    const { key } = (await reply.json()) as { readonly key: { readonly key: string } };
    return { widgetKey: key.key, origin };
  }

  /** Opens a session and a call that is heard; the visitor is the demo's unless a locked key is given. */
  async function talk(locked?: { readonly widgetKey: string; readonly origin: string }): Promise<Opened> {
    const headers = {
      Origin: locked?.origin ?? server.direct,
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36',
    };
    const created = await fetch(`${server.direct}/api/session`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'Accept-Language': 'en' },
      body: JSON.stringify({ widgetKey: locked?.widgetKey ?? 'w_demo_local_00000000000000000000000000000000' }),
    });
    const { sm_session_id: id, client_secret: ticket } = (await created.json()) as {
      readonly sm_session_id: string;
      readonly client_secret: { readonly value: string };
    };
    const dialled = await fetch(`${server.direct}/api/realtime/calls`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/sdp', Authorization: `Bearer ${ticket.value}` },
      body: offerSdp({ channel: locked === undefined }),
    });
    expect(dialled.status, await dialled.text()).toBe(201);
    const ref = dialled.headers.get('location')?.split('/').at(-1) ?? '';
    const call = provider.lastCall;
    await vi.waitFor(() => expect(call.sidebands.size).toBe(1), soon);
    return { session: refOf(id), ref, call };
  }

  async function end(session: string): Promise<void> {
    const body = JSON.stringify({ reason: 'asked to' });
    const path = `/api/operator/sessions/${encodeURIComponent(session)}/end`;
    const reply = await fetch(server.direct + path, { method: 'POST', headers: SERVICE, body });
    expect(reply.status, await reply.text()).toBe(200);
  }

  test('lead from the list to a call, to its session and back, and show what they have cost so far', async () => {
    const { session, ref, call } = await talk();
    here = await ConsolePage.enter(browser, server, '/console');
    await here.page.locator('.rail').getByRole('link', { name: 'Calls' }).click();
    await here.isAt('/console/calls');
    await here.row(ref).filter({ hasText: '$0.00' }).waitFor();
    call.respond(USAGE);
    await here
      .row(ref)
      .filter({ hasText: /\$[1-9]/ })
      .waitFor(soon);
    await here.row(ref).getByRole('link', { name: 'demo' }).click();
    await here.isAt(`/console/calls/${ref}`);
    await here.sees('Still open', '.why');
    await here.sees(/30,000 tokens, \$[1-9]/, 'dd');
    await here.page.getByRole('link', { name: session }).click();
    await here.isAt(`/console/sessions/${session}`);
    await here.page.getByRole('link', { name: 'What happened in it' }).click();
    await here.isAt(`/console/calls/${ref}`);
    await end(session);
    await here.sees(/It closed.*, because .+\. Hang-up: confirmed by the provider/, '.why');
    await here.sees('confirmed by the provider', 'dd');
    await here.page.keyboard.press('Escape');
    await here.isAt('/console/calls');
    await here.row(ref).filter({ hasText: 'closed' }).waitFor();
  });

  test('are filtered by the page’s address, and a call that no longer matches is dimmed in its place', async () => {
    const [first, second] = [await talk(), await talk()];
    here = await ConsolePage.enter(browser, server, '/console/calls');
    await here.row(first.ref).waitFor();
    await here.page.keyboard.press('f');
    await here.page.keyboard.type('demo');
    await here.page.keyboard.press('Enter');
    await here.isAt('/console/calls?tenantId=demo');
    await here.page.getByLabel('State').selectOption('open');
    await here.isAt('/console/calls?state=open&tenantId=demo');
    await here.row(second.ref).waitFor();
    await end(first.session);
    await here.page.locator(`tr.past[data-row="${first.ref}"]`).waitFor(soon);
    await here.page.getByLabel('Hang-up').selectOption('unconfirmed');
    await here.isAt('/console/calls?state=open&tenantId=demo&hangup=unconfirmed');
    await here.sees('No call is like that');
    await here.page.getByRole('link', { name: 'See all calls' }).click();
    await here.row(first.ref).filter({ hasText: 'confirmed by the provider' }).waitFor();
    await end(second.session);
  });

  test('are marked when their hang-up has failed for long, and the overview links to them', async () => {
    const { session, ref } = await talk();
    provider.calls.hangupMode = 'broken';
    await end(session);
    here = await ConsolePage.enter(browser, server, '/console');
    await here.page.getByRole('link', { name: 'still closing after 10 s' }).click();
    await here.isAt('/console/calls?state=closing');
    await here.row(ref).locator('.problem').filter({ hasText: 'asked for in vain' }).waitFor(soon);
    await here.row(ref).getByRole('link', { name: 'demo' }).click();
    await here.sees(/^It has been closing for .+ Hang-up: asked for in vain, \d+ tries\. It is tried again/, '.why');
    await here.sees(/asked for in vain, \d+ tries/, 'dd .problem');
    for (const width of [390, 1440]) {
      await here.page.setViewportSize({ width, height: 900 });
      expect([width, await violations(here.page)]).toEqual([width, []]);
    }
    expect(await here.overflow()).toEqual([0, 0]);
    provider.calls.hangupMode = 'ok';
  });

  test('have an address under their session as well, and an unknown call is reported as such', async () => {
    const { session, ref } = await talk();
    here = await ConsolePage.enter(browser, server, `/console/sessions/${session}/calls/${ref}`);
    await here.sees('Still open', '.why');
    await here.page.keyboard.press('Escape');
    await here.isAt(`/console/sessions/${session}`);
    await here.follow('/console/calls/call_none');
    await here.sees('There is no such thing');
    await end(session);
  });

  test('take an operator’s whisper by the keyboard, and the page says what became of it', async () => {
    const { session, call } = await talk(await lockedKey());
    here = await ConsolePage.enter(browser, server, `/console/sessions/${session}`);
    const field = here.page.getByLabel('For the agent alone');
    await field.waitFor();
    await here.page.keyboard.press('w');
    await here.page.keyboard.type('Offer the refund.');
    for (const colorScheme of ['light', 'dark'] as const) {
      await here.page.emulateMedia({ colorScheme });
      for (const width of [390, 1440]) {
        await here.page.setViewportSize({ width, height: 900 });
        expect([width, await violations(here.page)]).toEqual([width, []]);
      }
    }
    expect(await here.overflow()).toEqual([0, 0]);
    await here.page.keyboard.press('Control+Enter');
    await here.sees('The agent was told.', '.whisper');
    expect(await field.inputValue()).toBe('');
    expect(call.heard.at(-1)).toMatchObject({
      type: 'conversation.item.create',
      item: { role: 'system', content: [{ type: 'input_text', text: 'Offer the refund.' }] },
    });
    await here.page.keyboard.type('And be quick.');
    await end(session);
    await here.page.getByRole('button', { name: 'Send' }).click();
    await here.sees('The session has ended', '.whisper [role="alert"]');
    expect(await field.inputValue()).toBe('And be quick.');
    await here.follow('/console/audit?action=session.whisper');
    await here.sees('whispered to an agent');
  });

  test('have a page that axe finds nothing wrong with, and that fits every window', async () => {
    const { session, ref } = await talk();
    here = await ConsolePage.enter(browser, server, `/console/calls/${ref}`);
    await here.sees('Still open', '.why');
    for (const width of [390, 768, 1440]) {
      await here.page.setViewportSize({ width, height: 900 });
      expect([width, await violations(here.page)]).toEqual([width, []]);
    }
    expect(await here.overflow()).toEqual([0, 0]);
    await end(session);
  });
});
