import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { listen, portOf } from '../../support/http-server.ts';

/** A request as it arrived. */
export interface Received {
  readonly webhookId: string;
  readonly atMs: number;
  /** Undefined if the request got no answer. */
  readonly status: number | undefined;
  readonly type: string;
  /** Names the fact that the request reports; the same for every repetition. */
  readonly fact: string;
  readonly data: object;
  /** When it happened, according to the request. */
  readonly timestamp: string;
  /** What is wrong with the request; undefined if nothing is. */
  readonly fault: string | undefined;
}

/** Decides the answer: a status, or none at all. */
export type Answer = () => number | 'hang' | 'reset';

/** A new secret must sign within this time, which allows for timestamps in whole seconds. */
const SIGNS_MS = 7000;
const MAX_BODY_BYTES = 8192;

type NameOf = (type: string, data: object, timestamp: string) => string;

/** A tenant's server that receives webhooks and checks their signatures. */
export class Receiver {
  readonly name: string;
  readonly types: readonly string[];
  readonly received: Received[] = [];
  answer: Answer;
  /** Set once the endpoint is created. */
  id = '';
  /** Whether it receives the facts of all tenants. */
  isOfInstallation = false;
  onReceived: (received: Received) => void = () => undefined;
  readonly #server: Server;
  /** Newest first. */
  readonly #secrets: { readonly value: string; readonly knownAtMs: number }[] = [];
  /** How often a new secret was requested since the newest known one; each request may have taken effect even without an answer. */
  #asked = 0;

  readonly #factNameOf: NameOf;

  private constructor(name: string, types: readonly string[], factNameOf: NameOf, answer: Answer) {
    this.name = name;
    this.types = types;
    this.#factNameOf = factNameOf;
    this.answer = answer;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => this.#take(request.headers, Buffer.concat(chunks).toString(), response));
    });
  }

  /** @param factNameOf names the fact that a request reports, so that repetitions are noticed */
  static async start(
    name: string,
    types: readonly string[],
    factNameOf: NameOf,
    answer: Answer = () => 204,
  ): Promise<Receiver> {
    const receiver = new Receiver(name, types, factNameOf, answer);
    await listen(receiver.#server);
    return receiver;
  }

  get url(): string {
    return `http://localhost:${portOf(this.#server)}/`;
  }

  /** Stores the secret that `ask` returns; undefined means that the request failed, but the secret may have changed all the same. */
  async rotate(ask: () => Promise<string | undefined>): Promise<void> {
    this.#asked += 1;
    const value = await ask();
    if (value === undefined) return;
    this.#secrets.unshift({ value, knownAtMs: Date.now() });
    this.#asked = 0;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #take(headers: IncomingHttpHeaders, body: string, response: ServerResponse): void {
    const fault = this.#faultOf(headers, body);
    const answer = fault === undefined ? this.answer() : 401;
    const { type, data, timestamp } = JSON.parse(body) as {
      readonly type: string;
      readonly data: object;
      readonly timestamp: string;
    };
    const received = {
      webhookId: String(headers['webhook-id']),
      atMs: Date.now(),
      status: typeof answer === 'number' ? answer : undefined,
      type,
      fact: this.#factNameOf(type, data, timestamp),
      data,
      timestamp,
      fault,
    };
    this.received.push(received);
    this.onReceived(received);
    if (answer === 'reset') response.socket?.resetAndDestroy();
    else if (answer !== 'hang') response.writeHead(answer).end();
  }

  #faultOf(headers: IncomingHttpHeaders, body: string): string | undefined {
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) return `has ${Buffer.byteLength(body)} bytes`;
    const signedBy = this.#secrets.findIndex(({ value }) => isSigned(value, headers, body));
    // The newest secret and the one before it sign. After two changes whose answers were lost, neither of those is known here.
    if (signedBy === -1) return this.#asked < 2 ? `is signed by none of ${this.#secrets.length} secrets` : undefined;
    const [newest] = this.#secrets;
    const sentAtMs = Number(headers['webhook-timestamp']) * 1000;
    if (signedBy > 0 && this.#asked === 0 && sentAtMs > (newest?.knownAtMs ?? 0) + SIGNS_MS)
      return `is signed by a former secret alone, ${sentAtMs - (newest?.knownAtMs ?? 0)} ms after there was a new one`;
    return undefined;
  }
}

function isSigned(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
