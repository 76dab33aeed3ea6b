export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Milliseconds until the last byte of the reply must have arrived. */
  readonly timeoutMs: number;
  readonly maxReplyBytes: number;
  /** Called with the head of the reply, whatever becomes of its body. */
  readonly onHead?: ((head: Pick<PostReply, 'status' | 'headers'>) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PostReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export type PostFailureKind = 'timeout' | 'unreachable' | 'too_large';

/** No reply arrived. `detail` is at most a system error code, because errors of the HTTP client may quote headers. */
export class PostFailure extends Error {
  readonly kind: PostFailureKind;
  readonly detail: string | undefined;

  constructor(kind: PostFailureKind, detail?: string) {
    super(detail === undefined ? kind : `${kind}: ${detail}`);
    this.name = 'PostFailure';
    this.kind = kind;
    this.detail = detail;
  }
}

/**
 * One POST with a deadline for the whole exchange and a limit on the size of the reply. Redirects are not followed, because the target of a redirect
 * would receive the credentials; the caller sees the 3xx.
 * @throws PostFailure
 */
export function post(request: Post): Promise<PostReply> {
  return exchange('POST', request);
}

/** The same as a GET, for what providers issue that way. @throws PostFailure */
export function get(request: Omit<Post, 'body'>): Promise<PostReply> {
  return exchange('GET', request);
}

async function exchange(
  method: 'GET' | 'POST',
  { url, headers, body, timeoutMs, maxReplyBytes, onHead, signal }: Post,
): Promise<PostReply> {
  const abort = new AbortController();
  const giveUp = () => abort.abort();
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted) giveUp();
  try {
    const init = { method, headers, redirect: 'manual', signal: abort.signal } as const;
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    onHead?.(response);
    const text = await readBounded(response, maxReplyBytes);
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    if (error instanceof PostFailure) throw error;
    throw abort.signal.aborted ? new PostFailure('timeout') : new PostFailure('unreachable', systemCode(error));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream, and with it the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new PostFailure('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A system error code such as ECONNREFUSED, however deep in the causes it is. */
export function systemCode(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
  }
  return undefined;
}

export interface JsonPost extends Omit<Post, 'body'> {
  readonly body: unknown;
}

export interface JsonReply extends Omit<PostReply, 'text'> {
  /** `undefined` when the body is not JSON. */
  readonly body: unknown;
}

/** A POST of JSON that is answered with JSON. @throws PostFailure */
export async function postJson(json: JsonPost): Promise<JsonReply> {
  const { status, headers, text } = await post({
    ...json,
    headers: { accept: 'application/json', 'content-type': 'application/json', ...json.headers },
    body: JSON.stringify(json.body),
  });
  return { status, headers, body: parseJson(text) };
}

/** @returns `undefined` if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object with fields, as JSON has them: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
