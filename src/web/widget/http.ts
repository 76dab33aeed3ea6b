import type { ConnectOptions, RefusalBody } from './api.ts';
import { failure, SwitchboardError } from './error.ts';

/** A reply that takes longer is lost. */
const REPLY_MS = 10_000;
/** A mint alone may take the server ten seconds. */
const MINT_MS = 20_000;
export const SESSION_PATH = '/api/session';

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
        signal: AbortSignal.timeout(path === SESSION_PATH ? MINT_MS : REPLY_MS),
      });
      reply = await response.json();
    } catch (cause) {
      throw failure('NETWORK_ERROR', cause);
    }
    if (response.ok) return reply;
    // A proxy in between answers in its own way.
    if (reply?.userMessage === undefined) throw failure('NETWORK_ERROR', response.status);
    throw new SwitchboardError(reply as RefusalBody, response.status);
  };
}
