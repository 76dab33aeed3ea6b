import type { ConnectOptions } from './api.ts';
import { noConnection, SwitchboardError, type RefusalBody } from './error.ts';

/** A reply that takes longer is lost; a mint takes the server at most ten seconds. */
const REPLY_MS = 20_000;

/** Posts to Switchboard. `last`: the page is closing, so the request must outlive it. @throws SwitchboardError */
export type Post = <T>(path: string, body: object, idempotencyKey?: string, last?: boolean) => Promise<T>;

export function createPost(baseUrl: string, options: ConnectOptions): Post {
  const send = options.fetch ?? fetch;
  return async <T>(path: string, body: object, idempotencyKey?: string, last = false): Promise<T> => {
    let response: Response;
    let reply: T & Partial<RefusalBody>;
    try {
      response = await send(baseUrl + path, {
        method: 'POST',
        headers: {
          ...options.headers,
          'Content-Type': 'application/json',
          ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        },
        body: JSON.stringify(body),
        keepalive: last,
        signal: AbortSignal.timeout(REPLY_MS),
      });
      reply = await response.json();
    } catch (cause) {
      throw noConnection(cause);
    }
    if (response.ok) return reply;
    // A proxy in between answers in its own way.
    if (reply?.userMessage === undefined) throw noConnection(response.status);
    throw new SwitchboardError(reply as RefusalBody, response.status);
  };
}
