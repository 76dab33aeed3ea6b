import { framingRefusal, plainReply } from '../../src/http/refusals.ts';
import type { HttpReply, HttpRequest } from '../../src/http/message.ts';
import type { Eventually } from '../../src/kernel/async.ts';
import { type ListenOptions, listen, type Transport } from '../../src/transport/server.ts';
import { RawClient, requestText } from './raw-http.ts';

export interface TestServer {
  readonly port: number;
  readonly transport: Transport;
  /** The requests that reached the handler, in order. */
  readonly requests: HttpRequest[];
  /** The faults passed to `onFault`, in order. */
  readonly faults: unknown[];
}

const servers = new Set<Transport>();

/** A 200 with this text. */
export function text(body: string | Buffer, headers: HttpReply['headers'] = []): HttpReply {
  return { status: 200, headers: [['Content-Type', 'text/plain'], ...headers], body };
}

/** A transport on a free port that answers with `handle` and turns faults into a 500 with the fault's message. */
export async function serve(
  handle: (request: HttpRequest) => Eventually<HttpReply>,
  options: Partial<ListenOptions> = {},
): Promise<TestServer> {
  const requests: HttpRequest[] = [];
  const faults: unknown[] = [];
  const transport = await listen({
    host: '127.0.0.1',
    port: 0,
    replyDeadlineMs: 10_000,
    handle: (request) => {
      requests.push(request);
      return request.path === '/good' ? text('good') : handle(request);
    },
    rejectMalformed: ({ requestId }) => plainReply(framingRefusal(), requestId, false),
    onFault: (error) => {
      faults.push(error);
      return {
        status: 500,
        headers: [],
        body: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
      };
    },
    ...options,
  });
  servers.add(transport);
  return { port: transport.port, transport, requests, faults };
}

/** For afterEach: closes all that `serve` opened. */
export async function closeServers(): Promise<void> {
  await Promise.all([...servers].map((transport) => transport.close(0)));
  servers.clear();
}

/** Requests /good over a new connection and returns the body, which is `good` while the server works. */
export async function askGood(port: number): Promise<string> {
  const client = await RawClient.sending(port, requestText('GET', '/good'));
  const { body } = await client.reply();
  client.destroy();
  return body;
}
