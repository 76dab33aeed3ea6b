import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { closeServer, listen, portOf } from './http-server.ts';

export type SiteverifyKind = 'turnstile' | 'hcaptcha' | 'recaptcha';

/** How the server answers or fails; with `hold` it answers once `release` is called. */
export type SiteverifyMode =
  | 'answer'
  | 'hold'
  | 'reset'
  | 'html'
  | 'broken'
  | 'redirect'
  | 'huge'
  | { readonly status: number; readonly body: string };

/** A solved challenge, as the provider knows it. */
export interface Solved {
  readonly hostname?: string;
  readonly action?: string;
  readonly cdata?: string;
  readonly score?: number;
  /** When it was solved; the token expires five minutes later by the provider's own clock. */
  readonly atMs: number;
}

const FIELDS: Readonly<Record<SiteverifyKind, readonly string[]>> = {
  turnstile: ['secret', 'response', 'remoteip', 'idempotency_key'],
  hcaptcha: ['secret', 'response', 'remoteip', 'sitekey'],
  recaptcha: ['secret', 'response', 'remoteip'],
};
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A provider's siteverify endpoint on a free port, as strict as its documentation: it knows its secret and its single-use tokens. */
export class SiteverifyServer {
  mode: SiteverifyMode = 'answer';
  readonly secret = 'secret-of-the-site-that-nobody-logs';
  readonly siteKey = 'site-key';
  /** The body of every request. */
  readonly asked: URLSearchParams[] = [];
  /** What is wrong with requests that a real provider would not understand. */
  readonly wrongs: string[] = [];
  readonly #kind: SiteverifyKind;
  readonly #tokens = new Map<string, { readonly solved: Solved; usedBy?: string }>();
  readonly #held: (() => void)[] = [];
  readonly #server: Server;

  private constructor(kind: SiteverifyKind) {
    this.#kind = kind;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(kind: SiteverifyKind): Promise<SiteverifyServer> {
    const server = new SiteverifyServer(kind);
    await listen(server.#server);
    return server;
  }

  /** Uses a host name, because the guard accepts no IP address. */
  get url(): string {
    return `http://localhost:${portOf(this.#server)}/siteverify`;
  }

  /** Issues a token for a solved challenge. */
  solve(solved: Solved): string {
    const token = `P1_token.${randomUUID()}-${'x'.repeat(1000)}`;
    this.#tokens.set(token, { solved });
    return token;
  }

  /** Sends the answers that were held back. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  /** Resolves once `count` requests have arrived. */
  async heard(count: number): Promise<void> {
    while (this.asked.length < count) await once(this.#server, 'asked');
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const body = new URLSearchParams(text);
    this.asked.push(body);
    this.#server.emit('asked');
    const send = (status: number, sent: string, type = 'application/json'): void =>
      void response.writeHead(status, { 'content-type': type }).end(sent);
    const { mode } = this;
    if (typeof mode === 'object') return send(mode.status, mode.body);
    switch (mode) {
      case 'answer':
        return send(200, JSON.stringify(this.#verify(request, body)));
      case 'hold':
        return void this.#held.push(() => send(200, JSON.stringify(this.#verify(request, body))));
      case 'reset':
        return void request.socket.resetAndDestroy();
      case 'html':
        return send(200, '<!doctype html><title>Just a moment</title>', 'text/html');
      case 'broken':
        return send(502, '{"success":true}');
      case 'redirect':
        return void response.writeHead(302, { location: `${this.url}/elsewhere` }).end();
      case 'huge':
        return send(200, JSON.stringify({ success: true, padding: 'x'.repeat(100_000) }));
    }
  }

  #verify(request: IncomingMessage, body: URLSearchParams): object {
    const fail = (...codes: string[]): object => ({ success: false, 'error-codes': codes });
    const [secret, response, remoteip] = ['secret', 'response', 'remoteip'].map((name) => body.get(name) ?? '');
    const strange = [...body.keys()].filter((name) => !FIELDS[this.#kind].includes(name));
    if (request.method !== 'POST' || request.headers['content-type'] !== 'application/x-www-form-urlencoded')
      this.wrongs.push('not a posted form');
    if (strange.length > 0) this.wrongs.push(`unknown ${strange.join()}`);
    if (isIP(remoteip ?? '') === 0) this.wrongs.push('no remoteip');
    if (this.#kind === 'turnstile' && !UUID.test(body.get('idempotency_key') ?? '')) this.wrongs.push('no UUID');
    if (this.#kind === 'hcaptcha' && body.get('sitekey') !== this.siteKey) this.wrongs.push('no sitekey');
    if (this.wrongs.length > 0) return fail('bad-request');
    if (secret === '') return fail('missing-input-secret');
    if (secret !== this.secret) return fail('invalid-input-secret');
    if (response === '') return fail('missing-input-response');
    const token = this.#tokens.get(response ?? '');
    if (token === undefined) return fail('invalid-input-response');
    const by = body.get('idempotency_key') ?? `request ${this.asked.length}`;
    if ((token.usedBy ?? by) !== by) return fail('timeout-or-duplicate');
    token.usedBy = by;
    const { atMs, ...solved } = token.solved;
    return { success: true, challenge_ts: new Date(atMs).toISOString(), 'error-codes': [], ...solved };
  }
}
