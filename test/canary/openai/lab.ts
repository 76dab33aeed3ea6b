import { WebSocket } from 'ws';
import { z } from 'zod';
import { deadline } from '../../../src/kernel/async.ts';
import { multipart } from '../../../src/upstream/provider-http.ts';
import { post, type PostReply, parseJson } from '../../../src/kernel/post.ts';
import type { Browser } from './browser.ts';
import { Ear, type HeardFrame } from './ear.ts';

export interface LabOptions {
  readonly apiKey: string;
  /** Including the path, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly liveModel: string;
  readonly openBrowser: () => Promise<Browser>;
  /** How long to wait for what should come. */
  readonly patienceMs: number;
  /** How long to listen for what may come. */
  readonly quietMs: number;
  /** How long to wait until the live API has reported usage twice. */
  readonly usageMs: number;
  /** Once aborted, no further question is asked. */
  readonly signal?: AbortSignal | undefined;
}

/** A call that the canary opened. */
export interface LabCall {
  readonly id: string;
  readonly api: 'realtime' | 'live';
  readonly browser: Browser;
  /** The credential that opened the call. */
  readonly credential: string;
  /** Whether the media connection came up. */
  readonly isConnected: boolean;
  /** The session as the provider described it when it was created. */
  readonly session: Readonly<Record<string, unknown>>;
}

/** A refusal by the provider, in its own codes: `404 call_id_not_found`. */
export class Refused extends Error {}

const word = /^[\w.-]{1,64}$/;
const errorReply = z.object({ error: z.object({ code: z.string().regex(word) }) });
const secretReply = z.object({ value: z.string() });
const liveReply = z.object({
  session: z.looseObject({ id: z.string().regex(/^[\w-]+$/) }),
  transport: z.object({ sdp: z.string() }),
});

const MAX_REPLY_BYTES = 256 * 1024;
const SAFETY = { 'openai-safety-identifier': 'switchboard-canary' };

/** The raw protocol of OpenAI's calls, as observed rather than as our adapters read it. Ends every call that it opened. */
export class Lab {
  readonly options: LabOptions;
  readonly #open = new Set<LabCall>();
  /** Sessions that are billed and cannot be ended, because their ids are unknown. */
  #lost = 0;

  constructor(options: LabOptions) {
    this.options = options;
  }

  /** Opens a call of the realtime API. @param credential the project key, or a client secret @param settings further fields of the session */
  async call(credential = this.options.apiKey, isAnswered = true, settings: object = {}): Promise<LabCall> {
    const browser = await this.options.openBrowser();
    const session = { type: 'realtime', model: this.options.model, ...settings };
    const form = multipart([
      { name: 'sdp', type: 'application/sdp', text: browser.offerSdp },
      { name: 'session', type: 'application/json', text: JSON.stringify(session) },
    ]);
    const isOurs = credential === this.options.apiKey;
    const reply = await this.#post('/realtime/calls', credential, {
      type: isOurs ? form.type : 'application/sdp',
      body: isOurs ? form.body : browser.offerSdp,
    });
    const id = /rtc_[\w-]+/.exec(refuseUnless(reply).headers.get('location') ?? '')?.[0];
    if (id === undefined) throw new Refused('no Location');
    return this.#keep({ id, api: 'realtime', browser, credential, session }, isAnswered ? reply.text : undefined);
  }

  async liveCall(): Promise<LabCall> {
    const { openBrowser, apiKey, liveModel } = this.options;
    const browser = await openBrowser();
    const body = JSON.stringify({
      session: { model: liveModel, store: false },
      transport: { type: 'webrtc', sdp: browser.offerSdp },
    });
    const reply = refuseUnless(await this.#post('/live/sessions', apiKey, { type: 'application/json', body }));
    const { data } = liveReply.safeParse(parseJson(reply.text));
    if (data === undefined) {
      this.#lost += 1;
      throw new Refused('a session without an id or an answer');
    }
    const { session, transport } = data;
    return this.#keep({ id: session.id, api: 'live', browser, credential: apiKey, session }, transport.sdp);
  }

  async secret(): Promise<string> {
    const body = JSON.stringify({ session: { type: 'realtime', model: this.options.model } });
    const asked = { type: 'application/json', body };
    const reply = refuseUnless(await this.#post('/realtime/client_secrets', this.options.apiKey, asked));
    return secretReply.parse(parseJson(reply.text)).value;
  }

  /** @returns the reply in short: `200`, `404 call_id_not_found` */
  async hangUp({ id, api }: Pick<LabCall, 'id' | 'api'>, credential = this.options.apiKey): Promise<string> {
    const path = api === 'live' ? `/live/sessions/${id}/hangup` : `/realtime/calls/${id}/hangup`;
    return inShort(await this.#post(path, credential));
  }

  /** Opens a connection on which a call is heard. @throws Refused */
  attach({ id, api }: Pick<LabCall, 'id' | 'api'>, credential = this.options.apiKey): Promise<Ear> {
    const path = api === 'live' ? `/live/sessions/${id}/attach` : `/realtime?call_id=${id}`;
    const address = this.options.baseUrl.replace(/^http/, 'ws') + path;
    const handshakeTimeout = this.options.patienceMs;
    const headers = { authorization: `Bearer ${credential}` };
    const socket = new WebSocket(address, { headers, handshakeTimeout, followRedirects: false });
    return new Promise((resolve, reject) => {
      const ear = new Ear(socket);
      socket.once('open', () => resolve(ear));
      socket.once('error', () => reject(new Refused('no connection')));
      socket.once('unexpected-response', (_, response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('close', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          reject(new Refused(inShort({ status: response.statusCode ?? 0, text })));
        });
      });
    });
  }

  /** Attaches, and says in words whether that worked. */
  async tryAttach(call: Pick<LabCall, 'id' | 'api'>, credential?: string): Promise<string> {
    try {
      (await this.attach(call, credential)).close();
      return 'attached';
    } catch (error) {
      if (error instanceof Refused) return error.message;
      throw error;
    }
  }

  /** The next event of one of the types; undefined if none comes within `patienceMs`. */
  next(ear: Ear, ...types: string[]): Promise<HeardFrame | undefined> {
    return ear.next((type) => types.includes(type), this.options.patienceMs);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      deadline(ms, resolve);
    });
  }

  /** Ends all calls that were opened. @returns whether the provider confirmed every end */
  async endAll(): Promise<boolean> {
    const ends = await Promise.all([...this.#open].map((call) => this.#end(call)));
    return ends.every(Boolean) && this.#lost === 0;
  }

  async #keep(call: Omit<LabCall, 'isConnected'>, answerSdp: string | undefined): Promise<LabCall> {
    // From now on the call may be billed, whatever happens to the peer.
    const kept = { ...call, isConnected: false };
    this.#open.add(kept);
    if (answerSdp !== undefined) kept.isConnected = await call.browser.accept(answerSdp);
    return kept;
  }

  async #end(call: LabCall): Promise<boolean> {
    this.#open.delete(call);
    await call.browser.close().catch(() => undefined);
    try {
      if (call.api === 'live') return await this.#closeLive(call);
      const replies = [await this.hangUp(call)];
      if (call.credential !== this.options.apiKey) replies.push(await this.hangUp(call, call.credential));
      return replies.some((reply) => /^(200|404|410|400 call_id_not_found)/.test(reply));
    } catch {
      return false;
    }
  }

  async #closeLive(call: LabCall): Promise<boolean> {
    try {
      const ear = await this.attach(call);
      ear.send({ type: 'session.close' });
      const closed = await this.next(ear, 'session.closed');
      ear.close();
      return closed !== undefined;
    } catch (error) {
      return error instanceof Refused && error.message.startsWith('404');
    }
  }

  #post(path: string, credential: string, content?: { readonly type: string; readonly body: string }) {
    const headers = { ...SAFETY, authorization: `Bearer ${credential}` };
    return post({
      url: new URL(this.options.baseUrl + path),
      headers: content === undefined ? headers : { ...headers, 'content-type': content.type },
      body: content?.body,
      timeoutMs: this.options.patienceMs,
      maxReplyBytes: MAX_REPLY_BYTES,
    });
  }
}

function refuseUnless(reply: PostReply): PostReply {
  if (reply.status < 200 || reply.status > 299) throw new Refused(inShort(reply));
  return reply;
}

/** The provider's status and code only, because its sentences may quote keys. */
function inShort({ status, text }: Pick<PostReply, 'status' | 'text'>): string {
  const { data } = errorReply.safeParse(parseJson(text));
  return data === undefined ? String(status) : `${status} ${data.error.code}`;
}
