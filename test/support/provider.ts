import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { TestCall } from './provider/call.ts';
import { credentialOf, TestCalls } from './provider/calls.ts';
import { broken, invalid, invalidKey, rateLimited, type OpenAiError } from './provider/errors.ts';
import { mintBody } from './provider/schemas.ts';
import { closeServer, listen, portOf } from './http-server.ts';

export type ProviderMode =
  | 'ok'
  | 'no session id'
  | 'strange session id'
  | 'invalid key'
  | 'rate limited'
  | 'broken'
  | 'garbage'
  | 'wrong shape'
  | 'hang'
  | 'hang in body'
  | 'reset'
  | 'huge'
  | 'redirect';

interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

const mintPath = /^\/(?:openai\/)?v1\/realtime\/client_secrets$/;

/**
 * A model provider on a free port that speaks OpenAI's protocols strictly and can misbehave: client secrets, calls of the realtime
 * API (also in Azure's form) and of the live API, and their sidebands.
 */
export class TestProvider {
  mode: ProviderMode = 'ok';
  /** Milliseconds that pass before each answer. */
  delayMs = 0;
  /** Answers wait for this promise. */
  #released: Promise<void> | undefined;
  readonly apiKey: string;
  /** API keys of other projects; projects do not know each other's calls. */
  readonly otherKeys: string[] = [];
  /** The `Retry-After` header of a 429. */
  retryAfter: string | undefined;
  /** Every request that arrived, in order. */
  readonly requests: RecordedRequest[] = [];
  /** The client secrets that the provider issued, in order. */
  readonly secrets: string[] = [];
  /** The provider's calls, with the ways in which it can misbehave. */
  readonly calls: TestCalls;
  readonly #server: Server;

  private constructor(apiKey: string) {
    this.apiKey = apiKey;
    this.calls = new TestCalls(this);
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
    this.#server.on('upgrade', (request, socket, head) => this.calls.upgrade(request, socket, head));
  }

  static async start(apiKey = 'sk-test-4f1c0ffee'): Promise<TestProvider> {
    const provider = new TestProvider(apiKey);
    await listen(provider.#server);
    return provider;
  }

  /** Without a path, as operators may write it. */
  get origin(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  /** The call that was created last. */
  get lastCall(): TestCall {
    const call = this.calls.all.at(-1);
    if (call === undefined) throw new Error('there is no call');
    return call;
  }

  /** Holds back all answers until the returned function is called. */
  hold(): () => void {
    let release = (): void => undefined;
    this.#released = new Promise((resolve) => (release = resolve));
    return () => release();
  }

  async close(): Promise<void> {
    this.calls.close();
    await closeServer(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readAll(request);
    this.requests.push({ path: request.url ?? '', headers: request.headers, body: parse(text) });
    if (this.mode === 'hang') return;
    if (this.mode === 'reset') return void request.socket.resetAndDestroy();
    await this.#released;
    const answer = (): void => void this.#answer(request, text, response);
    if (this.delayMs > 0) setTimeout(answer, this.delayMs);
    else answer();
  }

  async #answer(request: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
    response.setHeader('x-request-id', `req_${this.requests.length}`);
    response.setHeader('content-type', 'application/json');
    const scripted = this.#scriptedFault(response);
    if (scripted === 'answered') return;
    if (scripted === undefined && (await this.calls.serve(request, text, response))) return;
    const fault = scripted ?? this.#refusal(request, text);
    if (fault?.status === 429 && this.retryAfter !== undefined) response.setHeader('retry-after', this.retryAfter);
    if (fault) return void response.writeHead(fault.status).end(JSON.stringify({ error: fault.error }));
    const mint = mintBody.parse(JSON.parse(text));
    const body = JSON.stringify(this.#mint(mint));
    if (this.mode === 'hang in body') return void response.write(body.slice(0, 10));
    response.end(body);
  }

  #mint({ expires_after, session }: z.infer<typeof mintBody>): object {
    const value = `ek_${'0'.repeat(24)}${this.secrets.length}`;
    this.secrets.push(value);
    const ordinaryId = `sess_upstream${this.secrets.length}`;
    const id = this.mode === 'no session id' ? {} : { id: this.mode === 'strange session id' ? 'x' : ordinaryId };
    return {
      value,
      expires_at: Math.floor(Date.now() / 1000) + (expires_after?.seconds ?? 600),
      session: { ...session, ...id, object: 'realtime.session', expires_at: 0, output_modalities: ['audio'] },
    };
  }

  /** Faults that do not depend on the request. */
  #scriptedFault(response: ServerResponse): OpenAiError | 'answered' | undefined {
    switch (this.mode) {
      case 'invalid key':
        return invalidKey(this.apiKey);
      case 'rate limited':
        return rateLimited;
      case 'broken':
        return broken;
      case 'garbage':
        response.end(`<html>ek_leaked and ${this.apiKey}`);
        return 'answered';
      case 'wrong shape':
        response.end(JSON.stringify({ id: 'sess_1', client_secret: { value: 'ek_leaked', expires_at: 'soon' } }));
        return 'answered';
      case 'huge':
        response.end(JSON.stringify({ value: 'ek_huge', expires_at: 1, padding: 'x'.repeat(1024 * 1024) }));
        return 'answered';
      case 'redirect':
        response.writeHead(307, { location: `${this.origin}/v1/realtime/client_secrets` }).end();
        return 'answered';
      case 'ok':
      case 'no session id':
      case 'strange session id':
      case 'hang':
      case 'hang in body':
      case 'reset':
        break;
    }
    return undefined;
  }

  #refusal(request: IncomingMessage, text: string): OpenAiError | undefined {
    if (request.method !== 'POST' || !mintPath.test(request.url ?? '')) {
      return invalid(404, `Invalid URL (${request.method} ${request.url})`, null);
    }
    const credential = credentialOf(request);
    if (credential !== this.apiKey) return invalidKey(credential ?? '');
    if (request.headers['content-type'] !== 'application/json') return invalid(400, 'Unsupported content type.', null);
    const body = mintBody.safeParse(parse(text));
    if (body.success) return undefined;
    const issue = body.error.issues[0];
    return invalid(400, issue?.message ?? '', issue?.path.join('.') ?? null, 'unknown_parameter');
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
