import type { CreateReply } from '../../protocol/create.ts';
import { atEnd, untilAborted } from './abort.ts';
import type * as Api from './api.ts';
import { failure, refusal } from './error.ts';
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
  if (signal) return untilAborted(open(options), signal);
  // A page opens a session for its one visitor, a back end for many.
  if (typeof document === 'undefined') return open(options);
  // Another function that creates is another session.
  const name = JSON.stringify(options, (_, value: unknown) => (typeof value === 'function' ? String(value) : value));
  const present = opening.get(name);
  if (present) return present;
  const opened = open(options).finally(() => opening.delete(name));
  opening.set(name, opened);
  return opened;
};

async function open(options: Api.ConnectOptions): Promise<Api.Session> {
  // What is of the page goes to no server; functions are in no JSON.
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
    // A wait that the server asks for is for the page to show.
    const created = await (ready ? take(ready) : persist(create, CREATE_TRIES, 'RATE_LIMIT_EXCEEDED'));
    return holdSession(created, base, options, post, microphone);
  } catch (error) {
    release(microphone);
    throw failure('NETWORK_ERROR', error);
  }
}

/** What the page's own back end has created. @throws SwitchboardError of a refusal that the back end hands on, and of half a reply */
async function take(created: NonNullable<Api.ConnectOptions['created']>): Promise<CreateReply> {
  const reply = typeof created === 'function' ? await created() : created;
  // Of half a reply nothing is begun, which nobody would end.
  if ('sm_session_id' in reply && reply.call.mode) return reply;
  throw refusal(reply as Api.RefusalBody, 'NETWORK_ERROR', JSON.stringify(reply));
}

/** What a create says of the page's tools: nothing of those that the agent has already, and nothing of what they do. */
function describeTools(tools: Api.ConnectOptions['tools']): Api.CreateRequest['tools'] {
  if (!tools || Array.isArray(tools)) return tools;
  const described = Object.entries(tools).flatMap(([name, tool]) =>
    typeof tool === 'function' ? [] : [{ kind: 'http_tool', ...tool, name }],
  );
  // An empty list would take the agent's own away.
  return described.length > 0 ? described : undefined;
}
