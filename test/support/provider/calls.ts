import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { TestCall } from './call.ts';
import {
  broken,
  invalid,
  invalidKey,
  rateLimited,
  unknownCall,
  unknownNamed,
  wrongPath,
  type OpenAiError,
} from './errors.ts';
import { callSession, liveBody } from './schemas.ts';
import { answerSdp, videoSection } from './sdp.ts';

export type CreateMode =
  | 'ok'
  | 'location missing'
  | 'location absolute'
  | 'location elsewhere in the path'
  | 'location as query'
  | 'location foreign'
  | 'location strange'
  | 'answer with video'
  | 'no answer'
  | 'rate limited'
  | 'answer cut off'
  | 'reply lost';
/** 404s that do not come from the provider's calls: an HTML page, an error about the path, an error that names nothing. */
export type ForeignAnswer = 'page not found' | 'path not found' | 'something not found';
export type HangupMode =
  | 'ok'
  | 'bad request'
  | 'not found'
  | 'not found by name'
  | 'gone'
  | 'rate limited'
  | 'broken'
  | 'hang'
  | 'reset'
  | 'ignored'
  | ForeignAnswer;
export type AttachMode =
  | 'ok'
  | 'unauthorized'
  | 'not found'
  | 'not found by name'
  | 'rate limited'
  | 'broken'
  | 'never'
  | 'no update'
  | ForeignAnswer;

export interface Credentials {
  readonly apiKey: string;
  /** API keys of other projects. */
  readonly otherKeys: readonly string[];
  readonly secrets: readonly string[];
  /** The `Retry-After` header of a 429. */
  readonly retryAfter: string | undefined;
}

const notFoundPage = '<html><h1>404 Not Found</h1></html>';

/** The fixed answers of some modes, whatever the state of the call: an error of the provider, or a page of an intermediary. */
const scripted: Readonly<Partial<Record<HangupMode | AttachMode, (id: string, path: string) => OpenAiError | string>>> =
  {
    'bad request': () => unknownCall(400),
    'not found': () => unknownCall(404),
    'not found by name': unknownNamed,
    gone: () => unknownCall(410),
    'rate limited': () => rateLimited,
    broken: () => broken,
    unauthorized: () => invalidKey('whatever'),
    'page not found': () => notFoundPage,
    'path not found': (_, path) => wrongPath(path),
    'something not found': () => invalid(404, 'Not found.', null),
  };

/** The calls of the stand-in for a provider: it answers offers, is hung up over HTTP and heard over WebSockets. */
export class TestCalls {
  createMode: CreateMode = 'ok';
  hangupMode: HangupMode = 'ok';
  attachMode: AttachMode = 'ok';
  /** Fields of a session that the provider no longer takes: it refuses them, or ignores them. */
  readonly dropped = new Map<string, 'refused' | 'ignored'>();
  /** Every call, in order: the truth with which tests compare meters and ends. */
  readonly all: TestCall[] = [];
  /** How many upgrades were requested, whether they succeeded or not. */
  upgrades = 0;
  readonly upgradeRequests: Pick<IncomingMessage, 'headers'>[] = [];
  readonly #credentials: Credentials;
  readonly #unanswered = new Set<Duplex>();
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** @returns false for a path that has nothing to do with calls */
  async serve(request: IncomingMessage, text: string, response: ServerResponse): Promise<boolean> {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const path = pathname.replace(/^\/(?:openai\/)?v1/, '');
    const [, hungUp] = /^\/realtime\/calls\/([\w-]+)\/hangup$/.exec(path) ?? [];
    if (request.method !== 'POST') return false;
    if (hungUp !== undefined) this.#hangUp(hungUp, request, response);
    else if (path === '/realtime/calls') await this.#createRealtime(request, text, response);
    else if (path === '/live/sessions') this.#createLive(request, text, response);
    else return false;
    return true;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.upgrades += 1;
    this.upgradeRequests.push({ headers: request.headers });
    // A process that is killed resets its connections.
    socket.on('error', () => undefined);
    if (this.attachMode === 'never') return void this.#unanswered.add(socket);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const path = pathname.replace(/^\/(?:openai\/)?v1/, '');
    const [, liveId] = /^\/live\/sessions\/([\w-]+)\/attach$/.exec(path) ?? [];
    const id = path === '/realtime' ? searchParams.get('call_id') : liveId;
    const call = this.#find(id ?? undefined, request);
    const refuse = (fault: OpenAiError | string): void => refuseUpgrade(socket, fault, this.#credentials.retryAfter);
    const fault = scripted[this.attachMode]?.(id ?? '', request.url ?? '') ?? this.#keyFault(request);
    if (fault !== undefined) return refuse(fault);
    if (searchParams.has('model')) return refuse(invalid(400, 'model must be absent', 'model'));
    if (call === undefined) return refuse(unknownCall());
    call.answers = this.attachMode !== 'no update';
    socket.cork();
    this.#sockets.handleUpgrade(request, socket, head, (sideband) => call.attach(sideband));
    socket.uncork();
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    for (const socket of this.#unanswered) socket.destroy();
    this.#sockets.close();
  }

  /** The running call with this id, if the request carries the credential that created it. */
  #find(id: string | undefined, request: IncomingMessage): TestCall | undefined {
    const call = this.all.find((one) => one.id === id);
    return call?.ended === undefined && call?.terms.credential === credentialOf(request) ? call : undefined;
  }

  async #createRealtime(request: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
    const asked = await readCreate(request, text);
    if ('status' in asked) return refuse(response, asked);
    const refused = this.#refusal(request, asked.offer);
    if (refused !== undefined) return refuse(response, refused, this.#credentials.retryAfter);
    const unknown = Object.keys(asked.session).find((name) => this.dropped.get(name) === 'refused');
    if (unknown !== undefined)
      return refuse(response, invalid(400, `Unknown ${unknown}.`, unknown, 'unknown_parameter'));
    const call = this.#create('realtime', request, asked.session, asked.offer);
    const location = locations[this.createMode] ?? ((path: string) => path);
    const address = location(`${(request.url ?? '').split('?')[0]}/${call.id}`, `http://${request.headers.host}`);
    const headers = { 'content-type': 'application/sdp', ...(address === undefined ? {} : { location: address }) };
    if (this.createMode === 'reply lost') return void request.socket.destroy();
    response.writeHead(201, headers);
    if (this.createMode === 'answer cut off') return void response.write('v=0', () => request.socket.destroy());
    response.end(this.#answer(asked.offer));
  }

  #createLive(request: IncomingMessage, text: string, response: ServerResponse): void {
    const body = liveBody.safeParse(parse(text));
    if (!body.success) return refuse(response, invalid(400, body.error.message, null, 'unknown_parameter'));
    const { session, transport } = body.data;
    const refused = this.#refusal(request, transport.sdp);
    if (refused !== undefined) return refuse(response, refused, this.#credentials.retryAfter);
    const call = this.#create('live', request, session, transport.sdp);
    if (this.createMode === 'reply lost') return void request.socket.destroy();
    const id = this.createMode === 'location strange' ? { id: '../x' } : { id: call.id };
    const sdp = this.#answer(transport.sdp);
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        session: this.createMode === 'location missing' ? {} : id,
        transport: { type: 'webrtc', ...(sdp === '' ? {} : { sdp }) },
      }),
    );
  }

  #create(
    api: 'realtime' | 'live',
    request: IncomingMessage,
    session: Record<string, unknown>,
    offer: string,
  ): TestCall {
    const id = `${api === 'live' ? 'live' : 'rtc'}_${String(this.all.length + 1).padStart(24, 'u')}`;
    const credential = credentialOf(request) ?? '';
    const call = new TestCall({
      id,
      api,
      credential,
      session,
      offer,
      headers: request.headers,
      url: request.url ?? '',
      dropped: this.dropped,
    });
    this.all.push(call);
    return call;
  }

  #answer(offer: string): string {
    if (this.createMode === 'no answer') return '';
    return answerSdp(offer) + (this.createMode === 'answer with video' ? videoSection : '');
  }

  #keyFault(request: IncomingMessage): OpenAiError | undefined {
    const credential = credentialOf(request) ?? '';
    const { apiKey, otherKeys, secrets } = this.#credentials;
    return [apiKey, ...otherKeys, ...secrets].includes(credential) ? undefined : invalidKey(credential);
  }

  #refusal(request: IncomingMessage, offer: string): OpenAiError | undefined {
    const fault = this.createMode === 'rate limited' ? rateLimited : this.#keyFault(request);
    if (fault !== undefined) return fault;
    if (!offer.startsWith('v=0\r\n') || !/^m=audio /m.test(offer))
      return invalid(400, 'The offer needs audio.', 'sdp', 'invalid_offer');
    return undefined;
  }

  #hangUp(id: string, request: IncomingMessage, response: ServerResponse): void {
    if (this.hangupMode === 'hang') return;
    if (this.hangupMode === 'reset') return void request.socket.destroy();
    const known = this.all.find((one) => one.id === id);
    const call = this.#find(id, request);
    const fault =
      scripted[this.hangupMode]?.(id, request.url ?? '') ??
      this.#keyFault(request) ??
      (call === undefined ? unknownCall() : undefined);
    known?.hangups.push(typeof fault === 'string' ? 404 : (fault?.status ?? 200));
    known?.onHangUp();
    if (fault !== undefined) return refuse(response, fault, this.#credentials.retryAfter);
    // A call whose hang-up has no effect goes on speaking.
    if (this.hangupMode !== 'ignored') call?.end('hangup');
    response.writeHead(200).end();
  }
}

const locations: Readonly<Partial<Record<CreateMode, (path: string, origin: string) => string | undefined>>> = {
  'location missing': () => undefined,
  'location absolute': (path, origin) => origin + path,
  'location elsewhere in the path': (path) => path.replace(/^.*\/realtime/, '/behind/realtime'),
  'location as query': (path) => path.replace(/\/([^/]+)$/, '?call_id=$1'),
  'location foreign': (path) => `https://elsewhere.example${path}`,
  'location strange': (path) => `${path}/../../../../x`,
};

/** Azure's project key, or the bearer token. */
export function credentialOf({ url = '', headers }: IncomingMessage): string | undefined {
  if (url.startsWith('/openai/')) return headers['api-key']?.toString();
  return /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
}

async function readCreate(
  { headers }: IncomingMessage,
  text: string,
): Promise<{ readonly session: Record<string, unknown>; readonly offer: string } | OpenAiError> {
  const type = headers['content-type'] ?? '';
  if (type === 'application/sdp') return { session: {}, offer: text };
  if (!type.startsWith('multipart/form-data')) return invalid(400, 'Unsupported content type.', null);
  const form = await new Response(text, { headers: { 'content-type': type } }).formData();
  const [sdp, session] = [form.get('sdp'), form.get('session')];
  if (typeof sdp !== 'string' || typeof session !== 'string' || [...form.keys()].length !== 2)
    return invalid(400, 'The form needs the fields sdp and session, and no others.', null);
  const parsed = callSession.safeParse(parse(session));
  if (!parsed.success) return invalid(400, parsed.error.message, 'session', 'unknown_parameter');
  return { session: parsed.data, offer: sdp };
}

/** @param fault a string is sent as an HTML page, as an intermediary would */
function refuse(response: ServerResponse, fault: OpenAiError | string, retryAfter?: string): void {
  if (typeof fault === 'string') return void response.writeHead(404, { 'content-type': 'text/html' }).end(fault);
  const { status, error } = fault;
  if (status === 429 && retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}

function refuseUpgrade(socket: Duplex, fault: OpenAiError | string, retryAfter?: string): void {
  const status = typeof fault === 'string' ? 404 : fault.status;
  const body = typeof fault === 'string' ? fault : JSON.stringify({ error: fault.error });
  const wait = status === 429 && retryAfter !== undefined ? `retry-after: ${retryAfter}\r\n` : '';
  socket.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\n${wait}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
