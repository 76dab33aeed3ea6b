import type { Browser } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openBrowser, reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { ProviderPeer } from '../support/provider-peer.ts';
import { soon } from '../support/soon.ts';
import { browser, host, useHost, widgetKey, world } from './use-host.ts';

const skipped = reasonToSkipBrowser();
/** How long the SDK waits for a lost connection. */
const AWAY_MS = 10_000;

describe.skipIf(skipped !== undefined)(`A call with the provider ${skipped ?? ''}`, () => {
  let visit: Visit;
  let provider: ProviderPeer;

  useHost(
    { HEARTBEAT_INTERVAL_SEC: '1', WIDGET_SESSION_PER_MIN: '1000' },
    { agents: [{ id: 'greeter', greeting: 'Welcome to the museum.' }] },
  );

  beforeEach(() => begin(browser));

  async function begin(within: Browser): Promise<void> {
    visit = await Visit.begin(within, [host.origin, world.server.origin, 'https://api.openai.com'], {
      permissions: ['microphone'],
    });
    provider = await ProviderPeer.open(within, host.origin);
    await provider.serve(visit.page);
    await visit.page.goto(`${host.origin}/`);
    // Keeps every microphone that the page is ever given.
    await inPage(`{
      globalThis.microphones = [];
      globalThis.heard = [];
      const { mediaDevices } = navigator;
      const open = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = async (wanted) => {
        const stream = await open(wanted);
        microphones.push(...stream.getTracks());
        return stream;
      };
    }`);
  }

  afterEach(async () => {
    await finish();
    expect(visit.strangers).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  async function finish(): Promise<void> {
    await visit.end();
    await provider.close();
  }

  const inPage = (expression: string): Promise<unknown> => visit.page.evaluate<unknown>(expression);

  /** Sets the page's global `session` and adds to `heard` (states of the media, with error codes). */
  async function connect(more = ''): Promise<void> {
    await inPage(`(async () => {
      globalThis.session = await Switchboard.connect({ baseUrl: '${world.server.origin}', widgetKey: '${widgetKey}', audio: true, ${more} });
      session.on('media', ({ state, error }) => heard.push([state, error?.code].filter(Boolean).join(' ')));
      session.on('ended', ({ reason }) => heard.push('ended ' + reason));
    })()`);
  }

  async function call(more = ''): Promise<void> {
    await connect(more);
    await inPage('session.connectAudio().then((call) => { globalThis.call = call; })');
    await hears(['connecting', 'connected']);
  }

  async function hears(states: readonly string[]): Promise<void> {
    await vi.waitFor(async () => expect(await inPage('heard')).toEqual(states), soon);
  }

  const microphones = (): Promise<unknown> => inPage('microphones.map(({ readyState }) => readyState)');

  test('tells its page that it is connected, with the microphone open', async () => {
    await call();
    expect(await microphones()).toEqual(['live']);
  });

  test('starts with the agent’s greeting, which the page asks for without knowing its words', async () => {
    await call(`agentId: 'greeter'`);
    expect(await inPage('session.agent.greets')).toBe(true);
    await vi.waitFor(async () => expect(await provider.told).toEqual([{ type: 'response.create' }]), soon);
    const mint = world.provider.requests.at(-1)?.body as { readonly session: { readonly instructions: string } };
    expect(mint.session.instructions).toContain('say exactly: Welcome to the museum.');
    await inPage('session.end()');
  });

  test('is lost when the provider ends it: the microphone is released and the session goes on', async () => {
    await call();
    await provider.hangUp();
    await hears(['connecting', 'connected', 'lost CALL_LOST']);
    expect(await microphones()).toEqual(['ended']);
    expect(await inPage('call.peer.connectionState')).toBe('closed');
    expect(await inPage('session.state')).toBe('engaged');
  });

  test('waits when the other side falls silent, then is lost and releases the microphone', async () => {
    await visit.page.clock.install();
    await call();
    await provider.crash();
    await hears(['connecting', 'connected', 'reconnecting']);
    await visit.page.clock.fastForward(AWAY_MS);
    await hears(['connecting', 'connected', 'reconnecting', 'lost CALL_LOST']);
    expect(await microphones()).toEqual(['ended']);
  });

  test('is lost when the visitor revokes the permission for the microphone', async () => {
    await finish();
    const asking = await openBrowser('asking');
    await begin(asking);
    await call();
    await visit.page.context().clearPermissions();
    await hears(['connecting', 'connected', 'lost MICROPHONE_LOST']);
    expect(await inPage('call.peer.connectionState')).toBe('closed');
    await finish();
    await asking.close();
  });

  test('can be followed by another in the same session', async () => {
    await call();
    await provider.hangUp();
    await hears(['connecting', 'connected', 'lost CALL_LOST']);
    await inPage('heard.splice(0); session.connectAudio().then((call) => { globalThis.call = call; })');
    await hears(['connecting', 'connected']);
    expect(await microphones()).toEqual(['ended', 'live']);
  });

  test('replaces the one before it', async () => {
    await call();
    await inPage(
      'heard.length = 0; globalThis.former = call; session.connectAudio().then((call) => { globalThis.call = call; })',
    );
    await hears(['connecting', 'connected']);
    expect(await inPage('former.peer.connectionState')).toBe('closed');
    expect(await microphones()).toEqual(['ended', 'live']);
  });

  test.each([
    ['the page ends the session', () => inPage('session.end()')],
    ['the page hangs up', () => inPage('call.stop()')],
    [
      'somebody else ends the session',
      () =>
        inPage(`fetch('${world.server.origin}/api/realtime/end', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ sm_session_id: session.id }),
        })`),
    ],
    ['a listener throws', () => inPage("session.on('ended', () => null()); session.end()")],
  ])('releases the microphone when %s', async (_way, leave) => {
    await call();
    await leave();
    await vi.waitFor(async () => expect(await microphones()).toEqual(['ended']), soon);
    expect(await inPage('call.peer.connectionState')).toBe('closed');
    visit.complaints.length = 0;
  });

  test('releases the microphone when the visitor leaves the page', async () => {
    await call();
    await inPage("addEventListener('pagehide', () => sessionStorage.setItem('left', microphones[0].readyState))");
    await visit.page.goto(`${host.origin}/elsewhere`);
    expect(await inPage("sessionStorage.getItem('left')")).toBe('ended');
  });

  test.each([
    ['is refused', { status: 401, body: 'no' }, 'PROVIDER_REFUSED'],
    ['is answered with nonsense', { status: 201, body: 'no SDP' }, 'PROVIDER_REFUSED'],
  ])('releases the microphone when it %s', async (_how, refusal, code) => {
    provider.refusal = refusal;
    await connect();
    expect(await inPage('session.connectAudio().catch(({ code }) => code)')).toBe(code);
    await hears(['connecting', `lost ${code}`]);
    expect(await microphones()).toEqual(['ended']);
  });

  test('releases the microphone when the browser cannot make a peer connection', async () => {
    await connect();
    await inPage("globalThis.RTCPeerConnection = class { constructor() { throw new Error('by policy'); } }");
    expect(await inPage('session.connectAudio().catch(({ code }) => code)')).toBe('PROVIDER_REFUSED');
    expect(await microphones()).toEqual(['ended']);
  });

  test('is not opened if the session ends meanwhile', async () => {
    await connect();
    const late = inPage('Promise.all([session.connectAudio().catch(({ code }) => code), session.end()])');
    expect(await late).toEqual(['SESSION_DURATION_EXCEEDED', undefined]);
    expect(await microphones()).toEqual(['ended']);
    expect(await inPage('session.connectAudio().catch(({ code }) => code)')).toBe('SESSION_DURATION_EXCEEDED');
    await hears(['ended closed_by_client']);
  });

  test('is given up if the session ends while the provider is being asked', async () => {
    provider.refusal = 'silence';
    await connect();
    await inPage('void session.connectAudio().catch(({ code }) => heard.push(code))');
    await hears(['connecting']);
    await inPage('session.end()');
    await hears(['connecting', 'SESSION_DURATION_EXCEEDED', 'ended closed_by_client']);
    expect(await microphones()).toEqual(['ended']);
  });

  test('releases the microphone when there is no session', async () => {
    const connecting = `Switchboard.connect({ baseUrl: '${world.server.origin}', widgetKey: 'w_unknown', audio: true })`;
    expect(await inPage(`${connecting}.catch(({ code }) => code)`)).toBe('INVALID_WIDGET_KEY');
    expect(await microphones()).toEqual(['ended']);
  });
});
