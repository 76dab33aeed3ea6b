import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { ProviderPeer } from '../support/provider-peer.ts';
import { soon } from '../support/soon.ts';
import { browser, host, useHost, widgetKey, world } from './use-host.ts';

const skipped = reasonToSkipBrowser();

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly endReason: string | null;
}

describe.skipIf(skipped !== undefined)(`The widget SDK on a website of another origin ${skipped ?? ''}`, () => {
  let visit: Visit;

  useHost({ HEARTBEAT_INTERVAL_SEC: '1', WIDGET_SESSION_PER_MIN: '1000' });

  beforeEach(async () => {
    visit = await Visit.begin(browser, [host.origin, world.server.origin], { permissions: ['microphone'] });
    await visit.page.goto(`${host.origin}/`);
  });

  afterEach(() => visit.finish());

  /** Connects in the page and sets its globals `session` and `ended`. @returns the session's id */
  function connect(more = ''): Promise<string> {
    return visit.page.evaluate<string>(`(async () => {
      const options = { baseUrl: '${world.server.origin}', widgetKey: '${widgetKey}' ${more} };
      globalThis.session = await Switchboard.connect(options);
      session.on('ended', (ended) => { globalThis.ended = ended; });
      return session.id;
    })()`);
  }

  const inPage = (expression: string): Promise<unknown> => visit.page.evaluate<unknown>(expression);

  async function listed(id: string): Promise<Listed | undefined> {
    const { body } = await world.backend().get('/api/operator/sessions');
    return body.sessions?.find((session) => session.id === id);
  }

  test('connects over a socket and sends its page events', async () => {
    const id = await connect();
    await vi.waitFor(async () => expect(await inPage('session.transport')).toBe('socket'), soon);
    expect(await inPage('session.reportUsage({ tokens: 7, dollars: 0.1 + 0.2 })')).toMatchObject({
      tokens: 7,
      dollars: 0.3,
    });
    await inPage('session.end()');
    expect(await inPage('ended')).toMatchObject({ reason: 'closed_by_client' });
    expect(await listed(id)).toMatchObject({ endReason: 'closed_by_client' });
  });

  test('creates one session for two calls in a row, and another once the first is connected', async () => {
    const options = `{ baseUrl: '${world.server.origin}', widgetKey: '${widgetKey}' }`;
    const [one, same, other] = (await inPage(`(async () => {
      const both = await Promise.all([Switchboard.connect(${options}), Switchboard.connect(${options})]);
      const sessions = [...both, await Switchboard.connect(${options})];
      await Promise.all(sessions.map((session) => session.end()));
      return sessions.map(({ id }) => id);
    })()`)) as readonly string[];
    expect(same).toBe(one);
    expect(other).not.toBe(one);
  });

  test('explains to the visitor why it may not start', async () => {
    const connecting = `Switchboard.connect({ baseUrl: '${world.server.origin}', widgetKey: 'w_unknown' })`;
    expect(
      await inPage(`${connecting}.catch(({ code, userMessage, status }) => ({ code, userMessage, status }))`),
    ).toEqual({
      code: 'INVALID_WIDGET_KEY',
      userMessage: 'This assistant is not set up correctly. Please contact the website.',
      status: 401,
    });
  });

  test.each([
    ['over a socket', '', 'socket'],
    ['over HTTP alone', ', WebSocket: class { constructor() { throw new Error(); } }', 'http'],
  ])('ends its session when the visitor leaves the page, %s', async (_how, more, transport) => {
    const id = await connect(more);
    await vi.waitFor(async () => expect(await inPage('session.transport')).toBe(transport), soon);
    await visit.page.goto(`${host.origin}/elsewhere`);
    await vi.waitFor(async () => expect(await listed(id)).toMatchObject({ endReason: 'closed_by_client' }), soon);
  });

  test.each([
    ['over a socket', '', 'socket'],
    ['over HTTP alone', ', WebSocket: class { constructor() { throw new Error(); } }', 'http'],
  ])('ends its session when the visitor closes the tab, %s', async (_how, more, transport) => {
    const id = await connect(more);
    await vi.waitFor(async () => expect(await inPage('session.transport')).toBe(transport), soon);
    await visit.page.close({ runBeforeUnload: true });
    await vi.waitFor(async () => expect(await listed(id)).toMatchObject({ endReason: 'closed_by_client' }), soon);
  });

  test('calls a provider with OpenAI’s protocol, and counts the tokens of its responses', async () => {
    const provider = await ProviderPeer.open(browser, host.origin);
    await provider.serve(visit.page);

    await connect();
    await inPage(`(async () => {
      session.on('usage', ({ usage }) => { globalThis.usage = usage; });
      globalThis.player = new Audio();
      globalThis.call = await session.connectAudio({
        audioElement: player,
        reportUsage: ({ total_tokens }) => ({ tokens: total_tokens, dollars: total_tokens / 1000 }),
      });
    })()`);
    await vi.waitFor(async () => expect(await provider.isReady).toBe(true), soon);
    expect(provider.calls).toEqual([
      { authorization: `Bearer ${world.provider.secrets.at(-1)}`, type: 'application/sdp' },
    ]);

    await provider.say({ type: 'response.done', response: { id: 'resp_1', usage: { total_tokens: 42 } } });
    await vi.waitFor(async () => expect(await inPage('globalThis.usage?.dollars')).toBeCloseTo(0.342), soon);

    // Both sides make a noise, so the call is never silent.
    await vi.waitFor(async () => expect(await inPage('player.srcObject?.getAudioTracks().length')).toBe(1), soon);
    await vi.waitFor(() => expect(visit.count('"idleSec":0')).toBeGreaterThan(3), soon);
    await inPage('session.end()');
    expect(await inPage('call.peer.connectionState')).toBe('closed');
    expect(await inPage('call.stream.getTracks()[0].readyState')).toBe('ended');
    expect(visit.strangers.splice(0)).toEqual(['https://api.openai.com/v1/realtime/calls']);
    await provider.close();
  });

  test('works as the README’s first widget says: one session for a double click, and a message for the visitor when the call is refused', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const snippet = /^```html\n(<button[^]*?)^```$/m.exec(readme)?.[1] ?? '';
    host.own = snippet
      .replaceAll('https://voice.example.com', world.server.origin)
      .replace('w_acme_site_…', widgetKey)
      .replace("'acme'", "'host'");
    // The provider refuses only after both clicks: until then a conversation is starting.
    let answer = (): void => undefined;
    const clicked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await visit.page.route('https://api.openai.com/v1/realtime/calls', async (route) => {
      await clicked;
      await route.fulfill({ status: 401, headers: { 'Access-Control-Allow-Origin': '*' }, body: 'no' });
    });
    await visit.page.goto(`${host.origin}/own`);
    await visit.page.getByRole('button').dblclick();
    await vi.waitFor(() => expect(visit.sessionId).not.toBe(''), soon);
    answer();
    await visit.page.getByText('The voice service did not take the call.').waitFor({ timeout: soon.timeout });
    // Without a call a session is useless to the visitor and occupies a slot.
    await vi.waitFor(async () => expect(await listed(visit.sessionId)).toMatchObject({ state: 'ended' }), soon);
    // The visitor's second click created no second session.
    expect(visit.requests.filter((one) => one === 'POST /api/session')).toHaveLength(1);
    await visit.page.getByRole('button').click();
    const call = 'https://api.openai.com/v1/realtime/calls';
    await vi.waitFor(() => expect(visit.strangers).toEqual([call, call]), soon);
    expect(visit.requests.filter((one) => one === 'POST /api/session')).toHaveLength(2);
    visit.strangers.length = 0;
  });
});
