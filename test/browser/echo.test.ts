import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Clock } from '../../src/kernel/time.ts';
import { CallOver, type CallRequest, type Sideband, type UpstreamEvent } from '../../src/upstream/contract.ts';
import type { EchoTimes } from '../../packages/echo/times.ts';
import { EchoProvider } from '../../src/upstream/echo.ts';
import { findWebRtc } from '../../packages/echo/web-rtc.ts';
import { audioProgram } from '../support/audio-page.ts';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { PATIENT_MS, soon } from '../support/soon.ts';
import { listen } from '../support/http-server.ts';

const skipped = reasonToSkipBrowser();
const LOUD = 0.01;

function openEcho(times: Partial<EchoTimes> = {}, clock?: Clock): EchoProvider {
  const loadWebRtc = findWebRtc();
  if (loadWebRtc === undefined) throw new Error('the WebRTC library is not installed');
  return new EchoProvider(loadWebRtc, { clientSecretTtlSec: 60, times, clock });
}

/** A server that opens calls at the provider with the offers that pages post to /calls. */
class Exchange {
  readonly #server: Server;
  readonly provider: EchoProvider;
  readonly callIds: string[] = [];

  private constructor(times: Partial<EchoTimes>, changes: Partial<CallRequest>) {
    this.provider = openEcho(times);
    this.#server = createServer((request, response) => {
      if (request.method === 'POST') void this.#exchange(request, response, changes);
      else response.setHeader('Content-Type', 'text/html').end('<title>Caller</title>');
    });
  }

  async #exchange(request: IncomingMessage, response: ServerResponse, changes: Partial<CallRequest>): Promise<void> {
    const offerSdp = await text(request);
    const created = await this.provider.createCall(callRequest({ offerSdp, ...changes }));
    this.callIds.push(created.providerCallId);
    response.writeHead(201, { 'Content-Type': 'application/sdp' }).end(created.answerSdp);
  }

  static async open(times: Partial<EchoTimes> = {}, changes: Partial<CallRequest> = {}): Promise<Exchange> {
    const exchange = new Exchange(times, changes);
    await listen(exchange.#server, 'localhost');
    return exchange;
  }

  get origin(): string {
    const address = this.#server.address();
    return `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
  }

  get callId(): string {
    return this.callIds.at(-1) ?? '';
  }

  async close(): Promise<void> {
    await this.provider.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function callRequest(changes: Partial<CallRequest>): CallRequest {
  return {
    model: 'echo',
    voice: 'marin',
    instructions: 'Say what you hear.',
    behaviour: { transcribe: {} },
    tools: [{ kind: 'http_tool', name: 'lookup' }],
    subjectHash: 'ab12',
    signal: new AbortController().signal,
    offerSdp: '',
    dataChannel: 'open',
    maxOutputTokens: undefined,
    ...changes,
  };
}

describe.skipIf(skipped !== undefined)(`The echo agent ${skipped ?? ''}`, () => {
  let browser: Browser;
  let exchange: Exchange;
  let page: Page;
  let heard: UpstreamEvent[];

  beforeAll(async () => void (browser = await openBrowser()));

  beforeEach(() => begin());

  async function begin(times: Partial<EchoTimes> = {}, changes: Partial<CallRequest> = {}): Promise<void> {
    exchange = await Exchange.open(times, changes);
    const context = await browser.newContext({ permissions: ['microphone'] });
    context.setDefaultTimeout(PATIENT_MS);
    page = await context.newPage();
    await page.goto(exchange.origin);
    await page.evaluate(audioProgram);
    heard = [];
  }

  afterEach(() => finish());

  async function finish(): Promise<void> {
    await page.context().close();
    await exchange.close();
  }

  afterAll(() => browser?.close());

  const inPage = <T = unknown>(expression: string): Promise<T> => page.evaluate<T>(expression);
  const dial = (options = '{}'): Promise<unknown> =>
    inPage(`dial('/calls', ${options}).then((call) => { globalThis.call = call; })`);
  const attach = (): Promise<Sideband> =>
    exchange.provider.attach(exchange.callId, undefined, (event) => heard.push(event));
  const isLoud = (): Promise<boolean> => inPage(`call.loudness() > ${LOUD}`);
  const types = (): Promise<string[]> => inPage('call.events.map(({ type }) => type)');
  const hears = (type: UpstreamEvent['type']): Promise<void> =>
    vi.waitFor(() => expect(heard.map((event) => event.type)).toContain(type), soon);

  async function sees(type: string): Promise<void> {
    await vi.waitFor(async () => expect(await types()).toContain(type), soon);
  }

  async function hearsItself(): Promise<void> {
    await inPage('speak(true)');
    await vi.waitFor(async () => expect(await isLoud()).toBe(true), soon);
  }

  test('repeats what it hears, and sends the page the events of a provider', async () => {
    await dial();
    await sees('session.created');
    await hearsItself();
    await inPage('speak(false)');
    await sees('output_audio_buffer.stopped');
    expect((await types()).filter((type, i, all) => type !== all[i - 1])).toEqual([
      'session.created',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
      'response.created',
      'output_audio_buffer.started',
      'response.output_audio_transcript.done',
      'response.done',
      'output_audio_buffer.stopped',
    ]);
    const created = await inPage('call.events[0]');
    expect(created).toMatchObject({
      event_id: expect.stringMatching(/^event_/),
      session: { type: 'realtime', model: 'echo', instructions: 'Say what you hear.' },
    });
    const done = await inPage<{ response: { usage: { total_tokens: number } } }>('call.events.at(-2)');
    expect(done).toMatchObject({ response: { object: 'realtime.response', status: 'completed' } });
    expect(done.response.usage.total_tokens).toBeGreaterThan(40);
    const captions = await inPage<readonly { delta?: string; transcript?: string }[]>(
      "call.events.filter(({ type }) => type.includes('input_audio_transcription'))",
    );
    const transcript = captions.map(({ delta }) => delta).join('');
    expect(transcript).toMatch(/^\(\d+\.\d s of speech, which the echo does not transcribe\)$/);
    expect(captions.at(-1)).toMatchObject({ transcript });
  });

  test('tells each attached sideband who speaks and what it cost', async () => {
    await dial();
    await attach();
    expect(heard).toEqual([{ type: 'ready' }]);
    await hearsItself();
    await inPage('speak(false)');
    await hears('responseDone');
    const cost = heard.filter(({ type }) => type !== 'speech' && type !== 'transcript');
    const told = cost.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1]);
    expect(told).toEqual([
      'ready',
      'listening',
      'activity',
      'words',
      'responseStarted',
      'activity',
      'speaking',
      'usage',
      'responseDone',
    ]);
    const isPart = (event: UpstreamEvent): boolean => event.type === 'transcript' && !event.isWhole;
    const shown = heard.filter(({ type }) => type === 'speech' || type === 'transcript');
    expect(shown.filter((event) => !isPart(event))).toMatchObject([
      { who: 'visitor', isOn: true },
      { who: 'visitor', isOn: false },
      { who: 'visitor', isWhole: true },
      { who: 'agent', isOn: true },
      { who: 'agent', isWhole: true },
      { who: 'agent', isOn: false },
    ]);
    const usage = cost.at(-2);
    await sees('response.done');
    const key = await inPage("call.events.find(({ type }) => type === 'response.done').response.id");
    expect(usage).toMatchObject({ type: 'usage', key, model: undefined, tokens: { textIn: 40, textCached: 0 } });
  });

  test('counts the conversation so far as cached input, and transcribes nothing once the page wants no words', async () => {
    await dial();
    await attach();
    for (let turn = 1; turn <= 2; turn += 1) {
      await hearsItself();
      await inPage('speak(false)');
      await vi.waitFor(() => expect(heard.filter(({ type }) => type === 'usage')).toHaveLength(turn), soon);
      await vi.waitFor(async () => expect(await isLoud()).toBe(false), soon);
      const noWords = { type: 'session.update', session: { audio: { input: { transcription: null } } } };
      await inPage(`call.channel.send(${JSON.stringify(JSON.stringify(noWords))})`);
    }
    const whole = heard.flatMap((event) => (event.type === 'transcript' && event.isWhole ? [event.who] : []));
    expect(whole).toEqual(['visitor', 'agent', 'agent']);
    const [first, second] = heard.flatMap((event) => (event.type === 'usage' ? [event.tokens] : []));
    expect(second).toMatchObject({
      textIn: 0,
      textCached: 40,
      audioCached: (first?.audioIn ?? 0) + (first?.audioOut ?? 0),
    });
  });

  test('is silent after a hang-up, whatever the page does, and says at once that it is over', async () => {
    await dial();
    await attach();
    await hearsItself();
    expect(await exchange.provider.hangUp(exchange.callId)).toBe('asked');
    await vi.waitFor(
      async () => expect(await inPage('[call.channelClosed, call.transportClosed]')).toEqual([true, true]),
      soon,
    );
    const count = await inPage('packets(call.peer)');
    await vi.waitFor(async () => expect(await inPage('call.loudness()')).toBe(0), soon);
    expect(await inPage('packets(call.peer)')).toBe(count);
    expect(count).toBeGreaterThan(0);
    // The page is still sending and has closed nothing.
    expect(await inPage('call.peer.signalingState')).toBe('stable');
    expect(heard.at(-1)).toEqual({ type: 'over', reason: 'remote' });
    expect(await exchange.provider.hangUp(exchange.callId)).toBe('already_over');
    await expect(attach()).rejects.toThrow(CallOver);
  });

  test('stops in the middle of a response that is cut off, and reports its usage', async () => {
    await dial();
    const sideband = await attach();
    await hearsItself();
    await inPage('speak(false)');
    await hears('speaking');
    sideband.cancelResponse(undefined);
    expect(heard.slice(-3)).toMatchObject([
      { type: 'usage' },
      { type: 'responseDone', isTold: true },
      { type: 'speech', who: 'agent', isOn: false },
    ]);
    await sees('response.done');
    expect(await inPage("call.events.find(({ type }) => type === 'response.done')")).toMatchObject({
      response: { status: 'cancelled' },
    });
  });

  test('keeps its responses within the limit', async () => {
    await dial();
    const sideband = await attach();
    sideband.limitResponses(3);
    await hearsItself();
    await inPage('speak(false)');
    await hears('usage');
    expect(heard.find(({ type }) => type === 'usage')).toMatchObject({ tokens: { audioOut: 3 } });
  });

  test('reports that the page changed the session, and restores it', async () => {
    await dial();
    const sideband = await attach();
    await sees('session.created');
    await inPage(`call.channel.send('{"type":"session.update","session":{"instructions":"Shout."}}')`);
    await hears('configChanged');
    await sees('session.updated');
    expect(await inPage('call.events.at(-1).session.instructions')).toBe('Shout.');
    sideband.restoreConfig();
    await vi.waitFor(
      async () => expect(await inPage('call.events.at(-1).session.instructions')).toBe('Say what you hear.'),
      soon,
    );
  });

  test.each([
    ['no JSON', 'hello', 'invalid_json'],
    ['JSON that is no event', '7', 'invalid_json'],
    ['an event of its own', '{"type":"bogus","event_id":"mine"}', 'unknown_event'],
  ])('answers a page that sends %s with an error, and goes on', async (_what, sent, code) => {
    await dial();
    await sees('session.created');
    await inPage(`call.channel.send(${JSON.stringify(sent)})`);
    await sees('error');
    expect(await inPage('call.events.at(-1).error')).toMatchObject({ type: 'invalid_request_error', code });
    await hearsItself();
  });

  test('answers text with text, and calls the tool that the text names', async () => {
    await dial();
    await attach();
    await sees('session.created');
    const say = async (item: object): Promise<void> => {
      for (const event of [{ type: 'conversation.item.create', item }, { type: 'response.create' }])
        await inPage(`call.channel.send(${JSON.stringify(JSON.stringify(event))})`);
    };
    const answers = (n: number): Promise<void> =>
      vi.waitFor(async () => expect((await types()).filter((type) => type === 'response.done')).toHaveLength(n), soon);
    await say({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello, is anybody there?' }] });
    await answers(1);
    expect(await inPage("call.events.find(({ type }) => type === 'response.output_text.done').text")).toBe(
      'Hello, is anybody there?',
    );
    await say({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'lookup {"id":7}' }] });
    await answers(2);
    const [call] = await inPage<{ call_id: string }[]>('call.events.at(-1).response.output');
    expect(call).toMatchObject({ type: 'function_call', name: 'lookup', arguments: '{"id":7}' });
    await say({ type: 'function_call_output', call_id: call?.call_id, output: '"found"' });
    await answers(3);
    expect(await inPage("call.events.findLast(({ type }) => type === 'response.output_text.done').text")).toBe(
      'The tool says: "found"',
    );
    expect(heard.filter(({ type }) => type === 'usage')).toHaveLength(3);
  });

  test('sends nothing to a sideband that has let go', async () => {
    await dial();
    const sideband = await attach();
    sideband.close();
    await sideband.closed;
    await hearsItself();
    await inPage('speak(false)');
    await sees('response.done');
    expect(heard).toEqual([{ type: 'ready' }]);
  });

  test('notices that the page hung up', async () => {
    await dial();
    const sideband = await attach();
    await hearsItself();
    await inPage('call.peer.close()');
    await sideband.closed;
    expect(heard.at(-1)).toEqual({ type: 'over', reason: 'remote' });
  });

  test('notices when the browser disappears without closing the call', async () => {
    await finish();
    await begin({ lostMs: 2000 });
    await dial();
    const sideband = await attach();
    await hearsItself();
    const crashed = page.waitForEvent('crash');
    page.goto('chrome://crash').catch(() => undefined);
    await crashed;
    await sideband.closed;
    expect(heard.at(-1)).toEqual({ type: 'over', reason: 'lost' });
  });

  test('ends the call at its maximum duration, and says so', async () => {
    await finish();
    await begin({ maxMs: 3000 });
    await dial();
    const sideband = await attach();
    await sideband.closed;
    expect(heard.at(-1)).toEqual({ type: 'over', reason: 'expired' });
    await sees('error');
    expect(await inPage('call.events.at(-1).error.code')).toBe('session_expired');
  });

  test.each([
    [
      'names in the place of addresses',
      "{ edit: (sdp) => sdp.replace(/(a=candidate:\\S+ \\d udp \\d+) \\S+/g, '$1 0b1c.local') }",
    ],
    ['no way to the browser', "{ edit: (sdp) => sdp.replace(/a=candidate.*\\r\\n/g, '') }"],
    ['no data channel', '{ hasChannel: false }'],
  ])('accepts an offer with %s', async (_what, options) => {
    await dial(options);
    await hearsItself();
  });

  test('offers only candidates of this machine', async () => {
    await dial();
    const candidates = (await inPage<string>('call.answer')).match(/a=candidate.*/g) ?? [];
    expect(candidates.length).toBeGreaterThan(0);
    expect(candidates.filter((line) => !line.includes(' 127.0.0.1 '))).toEqual([]);
  });
});

describe('The echo agent alone', () => {
  test.each([
    ['nothing', ''],
    ['words', 'hello'],
    ['no audio', 'v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n'],
  ])('refuses an offer of %s', async (_what, offerSdp) => {
    const provider = openEcho();
    await expect(provider.createCall(callRequest({ offerSdp }))).rejects.toMatchObject({
      kind: 'refused',
      facts: { code: 'invalid_offer' },
    });
    await provider.close();
  });

  test('opens no call for a caller that gave up', async () => {
    const provider = openEcho();
    const request = callRequest({ offerSdp: await anOffer(), signal: AbortSignal.abort() });
    await expect(provider.createCall(request)).rejects.toMatchObject({ kind: 'timeout' });
  });

  test('gives up a call that nobody joins', async () => {
    const provider = openEcho({ connectMs: 100 });
    const heard: UpstreamEvent[] = [];
    const { providerCallId } = await provider.createCall(callRequest({ offerSdp: await anOffer() }));
    const sideband = await provider.attach(providerCallId, undefined, (event) => heard.push(event));
    await sideband.closed;
    expect(heard).toEqual([{ type: 'ready' }, { type: 'over', reason: 'lost' }]);
    expect(await provider.hangUp(providerCallId)).toBe('already_over');
  });

  test('waits longer for a browser that has not come yet than for one that is silent', async () => {
    let looks = 0;
    let nowMs = 0;
    const clock = {
      now(): number {
        looks += 1;
        return nowMs;
      },
    };
    const provider = openEcho({ connectMs: 1000, lostMs: 100 }, clock);
    const { providerCallId } = await provider.createCall(callRequest({ offerSdp: await anOffer() }));
    const sideband = await provider.attach(providerCallId, undefined, () => undefined);
    nowMs = 999;
    const seen = looks;
    await vi.waitFor(() => expect(looks).toBeGreaterThan(seen + 2), soon);
    expect(await provider.isKnown(providerCallId)).toBe(true);
    nowMs = 1001;
    await sideband.closed;
    expect(await provider.isKnown(providerCallId)).toBe(false);
  });

  test('ends its calls when it is closed', async () => {
    const provider = openEcho();
    const { providerCallId } = await provider.createCall(callRequest({ offerSdp: await anOffer() }));
    await provider.close();
    expect(await provider.hangUp(providerCallId)).toBe('already_over');
  });

  async function anOffer(): Promise<string> {
    const { RTCPeerConnection } = await import('werift');
    const caller = new RTCPeerConnection({ iceServers: [], iceUseIpv6: false, iceUseIpv4: false });
    caller.addTransceiver('audio');
    const { sdp } = await caller.createOffer();
    await caller.close();
    return sdp;
  }
});
