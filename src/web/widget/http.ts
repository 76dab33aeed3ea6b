import type { ConnectOptions } from './api.ts';
import { failure, textOf } from './error.ts';

/** How long to wait for a reply. */
const REPLY_MS = 10_000;
/** Creates wait longer: the mint alone may take the server ten seconds. */
const MINT_MS = 20_000;
export const SESSION_PATH = '/api/session';

/** Posts to Switchboard. `last`: the page is closing, and the request must outlive it. @throws SwitchboardError */
export type Post = <T>(path: string, body: object, idempotencyKey?: string, last?: boolean) => Promise<T>;

export function createPost(baseUrl: string, options: ConnectOptions): Post {
  const send = options.fetch ?? fetch;
  return async <T>(path: string, body: object, idempotencyKey?: string, last = false): Promise<T> => {
    try {
      const response = await send(baseUrl + path, {
        method: 'POST',
        headers: {
          ...(options.language && { 'Accept-Language': options.language }),
          ...options.headers,
          'Content-Type': 'application/json',
          ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
        },
        body: JSON.stringify(body),
        keepalive: last,
        signal: AbortSignal.timeout(path === SESSION_PATH ? MINT_MS : REPLY_MS),
      });
      return JSON.parse(await textOf(response, 'NETWORK_ERROR')) as T;
    } catch (cause) {
      throw failure('NETWORK_ERROR', cause);
    }
  };
}

/** An id of 128 random bits. Pages without https have no crypto.randomUUID. */
export function makeId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
