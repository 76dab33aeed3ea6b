import type { CreateReply } from '../../protocol/create.ts';
import { atEnd, untilAborted } from './abort.ts';
import type * as Api from './api.ts';
import { failure, refusal } from './error.ts';
import { createPost, SESSION_PATH, makeId } from './http.ts';
import { openMicrophone, release } from './microphone.ts';
import { persist } from './backoff.ts';
import { holdSession } from './session.ts';

export { SwitchboardError } from './error.ts';

/** A visitor is waiting, who should see the failure after this many tries. */
const CREATE_TRIES = 3;

/** Sessions that this page is opening, by their options. */
const opening = new Map<string, Promise<Api.Session>>();

/** Creates a session and holds it; see api.ts. */
export const connect: typeof Api.connect = (options) => {
  const { signal } = options;
  if (signal) return untilAborted(open(options), signal);
  // A page opens sessions for its one visitor, a back end for many.
  if (typeof document === 'undefined') return open(options);
  // Options with different functions name different sessions.
  const name = JSON.stringify(options, (_, value: unknown) => (typeof value === 'function' ? String(value) : value));
  const present = opening.get(name);
  if (present) return present;
  const opened = open(options).finally(() => opening.delete(name));
  opening.set(name, opened);
  return opened;
};

async function open(options: Api.ConnectOptions): Promise<Api.Session> {
  // The page's own options are not sent to the server; JSON leaves out the functions.
  const {
    baseUrl = location.origin,
    headers: _headers,
    language: _language,
    created: ready,
    audio,
    signal,
    tools,
    ...body
  } = options;
  signal?.throwIfAborted();
  const microphone = audio ? await openMicrophone(audio) : undefined;
  if (signal) atEnd(signal, () => release(microphone));
  signal?.throwIfAborted();
  const base = baseUrl.replace(/\/+$/, '');
  const post = createPost(base, options);
  const key = makeId();
  const create = (): Promise<CreateReply> => {
    signal?.throwIfAborted();
    return post(SESSION_PATH, { ...body, tools: describeTools(tools) }, key);
  };
  try {
    // If the server asks to wait, the page must show that.
    const created = await (ready ? take(ready) : persist(create, CREATE_TRIES, 'RATE_LIMIT_EXCEEDED'));
    return holdSession(created, base, options, post, microphone);
  } catch (error) {
    release(microphone);
    throw failure('NETWORK_ERROR', error);
  }
}

/** Takes what the page's back end has created. @throws SwitchboardError the refusal that the back end passed on, or for an incomplete reply */
async function take(created: NonNullable<Api.ConnectOptions['created']>): Promise<CreateReply> {
  const reply = typeof created === 'function' ? await created() : created;
  // Nothing may start with an incomplete reply: there would be nothing to end it with.
  if ('sm_session_id' in reply && reply.call.mode) return reply;
  throw refusal(reply as Api.RefusalBody, 'NETWORK_ERROR', JSON.stringify(reply));
}

/** The page's tools as a create names them: without tools that the agent already has, and without the handlers. */
function describeTools(tools: Api.ConnectOptions['tools']): Api.CreateRequest['tools'] {
  if (!tools || Array.isArray(tools)) return tools;
  const described = Object.entries(tools).flatMap(([name, tool]) =>
    typeof tool === 'function' ? [] : [{ kind: 'http_tool', ...tool, name }],
  );
  // An empty list would remove the agent's own tools.
  return described[0] && described;
}
