import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { closeServer, listen, portOf } from './http-server.ts';

/** An object is sent as the verdict, whatever it contains. */
export type VerdictMode = object | 'garbage' | 'broken' | 'hang' | 'reset' | 'redirect' | 'huge';

export interface RecordedEvidence {
  readonly headers: IncomingMessage['headers'];
  readonly body: { readonly headers: Readonly<Record<string, string>>; readonly [field: string]: unknown };
}

/** A bot verdict service on a free port that answers or fails as a test wants. */
export class TestVerdictServer {
  mode: VerdictMode = { isBot: false, isVerifiedBot: false, confidence: 0.99 };
  readonly requests: RecordedEvidence[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
  }

  static async start(): Promise<TestVerdictServer> {
    const verdicts = new TestVerdictServer();
    await listen(verdicts.#server);
    return verdicts;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}/verdict`;
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    this.requests.push({ headers: request.headers, body: JSON.parse(text) as RecordedEvidence['body'] });
    const { mode } = this;
    if (typeof mode === 'object') return void response.end(JSON.stringify(mode));
    switch (mode) {
      case 'hang':
        return;
      case 'reset':
        return void request.socket.resetAndDestroy();
      case 'garbage':
        return void response.end('certainly human');
      case 'broken':
        return void response.writeHead(500).end('{}');
      case 'redirect':
        return void response.writeHead(307, { location: this.url }).end();
      case 'huge':
        return void response.end(JSON.stringify({ isBot: false, padding: 'x'.repeat(100_000) }));
    }
  }
}
