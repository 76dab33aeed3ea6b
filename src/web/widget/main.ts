import type * as Api from './api.ts';
import { createPost } from './http.ts';
import { makeId } from './id.ts';
import { isTransient } from './error.ts';
import { persist } from './patience.ts';
import { holdSession, type Created } from './session.ts';

export { SwitchboardError } from './error.ts';

/** A page's visitor waits: after so many tries it is told. */
const CREATE_TRIES = 3;

/** Creates a session and holds it; see api.ts. */
export const connect: typeof Api.connect = async (options) => {
  const { baseUrl = location.origin, headers: _headers, fetch: _fetch, WebSocket: _socket, ...request } = options;
  const base = baseUrl.replace(/\/+$/, '');
  const post = createPost(base, options);
  const key = makeId();
  const created = await persist(
    () => post<Created>('/api/session', request, key),
    // A wait that the server asks for is for the page to show.
    (error, failures) => !isTransient(error) || failures + 1 >= CREATE_TRIES || isLimited(error),
  );
  return holdSession(created, base, options, post);
};

function isLimited(error: unknown): boolean {
  return (error as Api.SwitchboardError).code === 'RATE_LIMIT_EXCEEDED';
}
