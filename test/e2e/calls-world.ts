import { Client, type Reply } from '../support/client.ts';
import type { TestCall } from '../support/provider/call.ts';
import { offerSdp } from '../support/provider/sdp.ts';
import { SocketClient } from '../support/socket-client.ts';
import { acme, site, siteKey, World, type TenantsFile } from '../support/world.ts';
import type { Environment } from '../support/switchboard.ts';

/** Settings of a service that opens every call itself. */
const brokering: Environment = {
  CALL_MODE: 'brokered',
  CALLS_PER_SESSION: '100',
  WIDGET_SESSION_PER_MIN: '100000',
  WIDGET_MAX_CONCURRENT_SESSIONS: '100000',
  WIDGET_MAX_DOLLARS_DAILY: '1000000',
  WIDGET_MAX_TOKENS_DAILY: '1000000000',
};

export function startCalls(environment: Environment = {}, tenants: TenantsFile = acme): Promise<World> {
  return World.start({ ...brokering, ...environment }, tenants);
}

/** A call as operators see it. */
export interface CallSeen {
  readonly ref: string;
  readonly state: string;
  readonly providerCallId: string | null;
  readonly closeReason: string | null;
  readonly hangup: string;
  readonly ownerNode: string;
  readonly basis: string | null;
  readonly tokens: Readonly<Record<string, number>>;
  readonly microDollars: number;
  readonly estimatedMicroDollars: number;
  readonly gapSec: number;
}

export interface SessionSeen {
  readonly state: string;
  readonly endedAt: string | null;
  readonly endReason: string | null;
  readonly calls: readonly CallSeen[];
}

let pages = 0;

/** A page on the tenant's website that keeps everything it is told and obeys none of it. */
export class Page {
  readonly email: string;
  sessionId = '';
  ticket = '';
  /** Whether its offers ask for a data channel. */
  hasChannel = true;
  /** Everything it received: heads, bodies, frames. */
  readonly got: string[] = [];
  readonly #client: Client;
  readonly #origin: () => string;
  readonly #confidential: Set<string>;

  constructor(origin: () => string, confidential = new Set<string>()) {
    pages += 1;
    this.email = `caller-${pages}@mail.example`;
    this.#origin = origin;
    this.#confidential = confidential;
    this.#client = new Client(origin, confidential, { Origin: site });
  }

  static of(world: World): Page {
    return new Page(() => world.server.origin, world.confidential);
  }

  /** The same page, but its requests go to another node. */
  at(origin: () => string): Page {
    const page = new Page(origin, this.#confidential);
    return Object.assign(page, { email: this.email, sessionId: this.sessionId, ticket: this.ticket });
  }

  /** @throws Error with the reply, if no session is created */
  async create(body: object = {}): Promise<this> {
    const reply = await this.tryCreate(body);
    if (reply.status !== 200) throw new Error(reply.text);
    return this;
  }

  async tryCreate(body: object = {}): Promise<Reply> {
    const reply = await this.post('/api/session', { widgetKey: siteKey, agentId: 'support', ...body }, false);
    this.sessionId = reply.body.sm_session_id ?? '';
    this.ticket = reply.body.client_secret?.value ?? '';
    return reply;
  }

  async askTicket(): Promise<this> {
    const { body } = await this.post('/api/realtime/ticket');
    this.ticket = body.client_secret?.value ?? '';
    return this;
  }

  /** Posts an offer with the ticket. */
  async exchange({ origin = site, signal }: { origin?: string; signal?: AbortSignal } = {}): Promise<Exchanged> {
    const response = await fetch(`${this.#origin()}/api/realtime/calls`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', Authorization: `Bearer ${this.ticket}`, Origin: origin },
      body: offerSdp({ channel: this.hasChannel }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    this.#keep(response.headers, text);
    return { status: response.status, text, location: response.headers.get('location') ?? '' };
  }

  /** Opens a session and its call. @returns the call as the provider knows it */
  async call(world: World): Promise<TestCall> {
    await this.create();
    return this.dial(world);
  }

  async dial(world: World): Promise<TestCall> {
    const reply = await this.exchange();
    if (reply.status !== 201) throw new Error(reply.text);
    return this.callAt(world, reply.location);
  }

  /** The call that a reply's location names, as the provider knows it. */
  async callAt(world: World, location: string): Promise<TestCall> {
    const { calls } = await seen(world, this);
    const providerCallId = calls.find(({ ref }) => location.endsWith(`/${ref}`))?.providerCallId;
    const call = world.provider.calls.all.find(({ id }) => id === providerCallId);
    if (call === undefined) throw new Error('the provider has no such call');
    return call;
  }

  async post(path: string, body: object = {}, isProven = true): Promise<Reply> {
    const proof = isProven ? { sm_session_id: this.sessionId } : {};
    const reply = await this.#client.post(path, { email: this.email, ...proof, ...body });
    this.#keep(reply.headers, reply.text);
    return reply;
  }

  end(): Promise<Reply> {
    return this.post('/api/realtime/end');
  }

  /** Its visitor's usage today, read with a report of nothing. */
  async usage(): Promise<unknown> {
    return (await this.post('/api/auth/usage', { tokens: 0, dollars: 0 })).body.usage;
  }

  /** Opens its socket. @param wants topics beyond those that every socket hears */
  async listen(wants?: readonly string[]): Promise<SocketClient> {
    const url = `${this.#origin().replace('http', 'ws')}/api/realtime/socket`;
    const socket = await SocketClient.open(url, 'switchboard.v1', { Origin: site });
    socket.socket.addEventListener('message', ({ data }) => this.got.push(String(data)));
    socket.say({ type: 'attach', sm_session_id: this.sessionId, email: this.email, wants });
    return socket;
  }

  #keep(headers: Headers, text: string): void {
    this.got.push([...headers].map((pair) => pair.join(': ')).join('\n'), text);
  }
}

export interface Exchanged {
  readonly status: number;
  readonly text: string;
  /** Empty if the reply has none. */
  readonly location: string;
}

/** The session as operators see it. */
export async function seen(world: World, { sessionId }: Page): Promise<SessionSeen> {
  const reply = await world.backend().get(`/api/operator/sessions/${encodeURIComponent(sessionId)}`);
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body as unknown as SessionSeen;
}

/** Tokens of one response by class, and the price of a million of them with gpt-realtime-2.1, in micro-dollars. */
const classes = {
  textIn: [210, 4_000_000],
  textCached: [100, 400_000],
  audioIn: [614, 32_000_000],
  audioCached: [128, 400_000],
  textOut: [61, 24_000_000],
  audioOut: [590, 64_000_000],
} as const;

/** A response as the provider's events report it, its total tokens, and its cost in 10⁻⁶ micro-dollars. */
export function responseOf(scale = 1): { readonly usage: object; readonly tokens: number; readonly pico: bigint } {
  const { textIn, textCached, audioIn, audioCached, textOut, audioOut } = classes;
  const count = (...of: readonly (readonly [number, number])[]): number =>
    of.reduce((sum, [tokens]) => sum + tokens * scale, 0);
  const cached = { text_tokens: count(textCached), audio_tokens: count(audioCached), image_tokens: 0 };
  const input = {
    text_tokens: count(textIn, textCached),
    audio_tokens: count(audioIn, audioCached),
    cached_tokens: count(textCached, audioCached),
    cached_tokens_details: cached,
  };
  const tokens = count(...Object.values(classes));
  const usage = {
    total_tokens: tokens,
    input_tokens: count(textIn, textCached, audioIn, audioCached),
    output_tokens: count(textOut, audioOut),
    input_token_details: input,
    output_token_details: { text_tokens: count(textOut), audio_tokens: count(audioOut) },
  };
  const pico = Object.values(classes).reduce((sum, [each, rate]) => sum + each * scale * rate, 0);
  return { usage, tokens, pico: BigInt(pico) };
}

/** What one call is charged, in whole micro-dollars, rounded up. */
export function microDollars(pico: bigint): number {
  return Number((pico + 999_999n) / 1_000_000n);
}
