import type { CreateReply } from '../../protocol/create.ts';
import type * as Api from './api.ts';
import { isTransient } from './error.ts';
import { createPost, SESSION_PATH } from './http.ts';
import { makeId } from './id.ts';
import { openMicrophone, release } from './microphone.ts';
import { persist } from './patience.ts';
import { holdSession } from './session.ts';

export { SwitchboardError } from './error.ts';

/** A page's visitor waits: after so many tries it is told. */
const CREATE_TRIES = 3;

/** What is under way on this page. */
const opening = new Map<string, Promise<Api.Session>>();

/** Creates a session and holds it; see api.ts. */
export const connect: typeof Api.connect = (options) => {
  const { signal } = options;
  const {
    headers: _headers,
    fetch: _fetch,
    WebSocket: _socket,
    audio: _audio,
    signal: _signal,
    language: _language,
    tools,
    ...rest
  } = options;
  const request = { ...rest, tools: describeTools(tools) };
  const name = JSON.stringify(request);
  // A page opens a session for its one visitor, a back end for many.
  const isShared = signal === undefined && typeof document !== 'undefined';
  const present = isShared ? opening.get(name) : undefined;
  if (present !== undefined) return present;
  const { baseUrl = location.origin, ...body } = request;
  const opened = open(baseUrl.replace(/\/+$/, ''), options, body);
  if (isShared) opening.set(name, opened);
  opened.catch(() => 0).finally(() => opening.delete(name));
  return signal === undefined ? opened : untilAborted(opened, signal);
};

async function open(baseUrl: string, options: Api.ConnectOptions, body: object): Promise<Api.Session> {
  const { audio, signal } = options;
  signal?.throwIfAborted();
  const microphone = audio ? await openMicrophone(audio) : undefined;
  signal?.addEventListener('abort', () => release(microphone));
  const post = createPost(baseUrl, options);
  const key = makeId();
  try {
    const created = await persist(
      () => {
        signal?.throwIfAborted();
        return post<CreateReply>(SESSION_PATH, body, key);
      },
      // A wait that the server asks for is for the page to show.
      CREATE_TRIES,
      (error) => isTransient(error) && (error as Api.SwitchboardError).code !== 'RATE_LIMIT_EXCEEDED',
    );
    const session = holdSession(created, baseUrl, options, post, microphone);
    const end = (): void => void session.end();
    signal?.addEventListener('abort', end);
    session.on('ended', () => signal?.removeEventListener('abort', end));
    if (signal?.aborted) end();
    return session;
  } catch (error) {
    release(microphone);
    throw error;
  }
}

/** What a create says of the page's tools: nothing of those that the agent has already, and nothing of what they do. */
function describeTools(tools: Api.ConnectOptions['tools']): Api.CreateRequest['tools'] {
  if (tools === undefined || Array.isArray(tools)) return tools;
  const described = Object.entries(tools).flatMap(([name, tool]) =>
    typeof tool === 'function' ? [] : [{ kind: 'http_tool', ...tool, name, run: undefined }],
  );
  // An empty list would take the agent's own away.
  return described.length > 0 ? described : undefined;
}

/** Settles as the work does, or at once when the signal aborts. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
    work.then(resolve, reject);
  });
}
