import type { Browser, Page } from 'playwright-core';
import { PATIENT_MS } from './soon.ts';

const callsUrl = 'https://api.openai.com/v1/realtime/calls';
const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };

/** JavaScript of the page that plays the provider: it answers an offer with a tone. */
const program = `globalThis.answer = async (sdp) => {
  globalThis.provider = new RTCPeerConnection();
  globalThis.told = [];
  provider.ondatachannel = ({ channel }) => {
    globalThis.events = channel;
    channel.onmessage = ({ data }) => told.push(JSON.parse(data));
  };
  const speaker = new AudioContext();
  const tone = new OscillatorNode(speaker);
  const voice = speaker.createMediaStreamDestination();
  tone.connect(voice); tone.start();
  for (const track of voice.stream.getTracks()) provider.addTrack(track, voice.stream);
  await provider.setRemoteDescription({ type: 'offer', sdp });
  await provider.setLocalDescription();
  await new Promise((done) => {
    provider.onicegatheringstatechange = () => provider.iceGatheringState === 'complete' && done();
    if (provider.iceGatheringState === 'complete') done();
  });
  return provider.localDescription.sdp;
}`;

/** A provider of the OpenAI kind that really takes calls: a peer in a browser page of its own. */
export class ProviderPeer {
  readonly #page: Page;
  /** Headers of the calls that arrived. */
  readonly calls: { readonly authorization: string | undefined; readonly type: string | undefined }[] = [];
  /** Sent instead of an answer; with `silence` there is no reply at all. */
  refusal: { readonly status: number; readonly body: string } | 'silence' | undefined;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** @param origin of any page that may use the microphone: peers of such pages find each other without mDNS names */
  static async open(browser: Browser, origin: string): Promise<ProviderPeer> {
    const context = await browser.newContext({ permissions: ['microphone'] });
    context.setDefaultTimeout(PATIENT_MS);
    const page = await context.newPage();
    await page.goto(origin);
    await page.evaluate(program);
    return new ProviderPeer(page);
  }

  /** Makes this peer take the page's calls from now on. */
  async serve(caller: Page): Promise<void> {
    await caller.route(callsUrl, async (route) => {
      const headers = await route.request().allHeaders();
      this.calls.push({ authorization: headers['authorization'], type: headers['content-type'] });
      if (this.refusal === 'silence') return undefined;
      if (this.refusal !== undefined) return route.fulfill({ headers: cors, ...this.refusal });
      const offer = JSON.stringify(route.request().postData());
      const body = await this.#page.evaluate<string>(`answer(${offer})`);
      return route.fulfill({ status: 201, contentType: 'application/sdp', headers: cors, body });
    });
  }

  /** Sends an event to the page on the data channel. */
  async say(event: object): Promise<void> {
    await this.#page.evaluate(`events.send(${JSON.stringify(JSON.stringify(event))})`);
  }

  /** What the page sent on the data channel of its last call. */
  get told(): Promise<readonly unknown[]> {
    return this.#page.evaluate<readonly unknown[]>('told');
  }

  get isReady(): Promise<boolean> {
    return this.#page.evaluate<boolean>("globalThis.events?.readyState === 'open'");
  }

  /** Ends the call as a provider does. */
  async hangUp(): Promise<void> {
    await this.#page.evaluate('provider.close()');
  }

  /** Crashes in the middle of the call, without saying goodbye. */
  async crash(): Promise<void> {
    const crashed = this.#page.waitForEvent('crash');
    this.#page.goto('chrome://crash').catch(() => undefined);
    await crashed;
  }

  async close(): Promise<void> {
    await this.#page.context().close();
  }
}
