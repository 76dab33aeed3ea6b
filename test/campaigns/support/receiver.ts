import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A request as it came. */
export interface Received {
  readonly webhookId: string;
  readonly atMs: number;
  /** Undefined where it was left without an answer. */
  readonly status: number | undefined;
  readonly type: string;
  /** The name of what it tells of, the same however often it is told. */
  readonly fact: string;
  readonly data: object;
  /** When it happened, as it says. */
  readonly timestamp: string;
  /** Undefined where it is right. */
  readonly fault: string | undefined;
}

/** What to answer: a status, or nothing at all. */
export type Answer = () => number | 'hang' | 'reset';

/** A new secret signs so soon; the time of a request is whole seconds. */
const SIGNS_MS = 7000;
const MAX_BODY_BYTES = 8192;

type NameOf = (type: string, data: object, timestamp: string) => string;

/** A server of a tenant that is told of what happens, and looks at whether it is signed. */
export class Receiver {
  readonly name: string;
  readonly types: readonly string[];
  readonly received: Received[] = [];
  answer: Answer;
  /** Set once the endpoint is made. */
  id = '';
  /** Whether it is told the facts of all tenants. */
  isOfInstallation = false;
  onReceived: (received: Received) => void = () => undefined;
  readonly #server: Server;
  /** The newest first. */
  readonly #secrets: { readonly value: string; readonly knownAtMs: number }[] = [];
  /** How often a new one was asked for since, which may have been made although no answer came. */
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

  /** @param factNameOf names what a request tells of, so that what is told twice is seen */
  static async start(
    name: string,
    types: readonly string[],
    factNameOf: NameOf,
    answer: Answer = () => 204,
  ): Promise<Receiver> {
    const receiver = new Receiver(name, types, factNameOf, answer);
    await once(receiver.#server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Takes the secret that `ask` gets; undefined where it was asked for in vain, which may have changed it all the same. */
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
    // The newest and the former one sign: of two that nobody here was told of neither is known.
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
