import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { parseJson, get, post, PostFailure, type PostFailureKind, type PostReply } from '../kernel/post.ts';
import { CallOver, UpstreamFault, type UpstreamFaultFacts, type UpstreamFaultKind } from './contract.ts';

/** A provider's API over HTTP, and as whom we use it. */
export interface Account {
  /** The provider as our words call it. */
  readonly title: string;
  /** With the path that all requests begin with, such as `/v1`. */
  readonly baseUrl: URL;
  /** The same for WebSockets. */
  readonly socketUrl: URL;
  /** Headers that prove who we are. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Milliseconds for one exchange, the reply's body included. */
  readonly timeoutMs: number;
}

export interface AccountOptions {
  readonly title: string;
  readonly baseUrl: string;
  /** Undefined: the base address with the scheme of WebSockets. */
  readonly socketUrl: string | undefined;
  /** What addresses without a path get. */
  readonly path: string;
  /** The header that carries the key, and what stands before the key in it. */
  readonly keyHeader: readonly [name: string, prefix: string];
  readonly key: string | undefined;
  /** Further headers that say who we are; those that are undefined are left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
}

/** Tells accounts apart without a word of them: who has another key, project or address there knows nothing of this one's calls. */
export function fingerprintOf(
  provider: string,
  account: Pick<Account, 'baseUrl' | 'credentials'>,
  key: Buffer,
): string {
  const text = JSON.stringify(['account', provider, account.baseUrl.href, Object.entries(account.credentials)]);
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 16);
}

/** @throws Error without a key, and for one that could not be sent as a header */
export function openAccount(options: AccountOptions): Account {
  const { title, timeoutMs, key = '', path } = options;
  // The HTTP client's own error about a bad header value would show the key.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error('the provider key must be printable ASCII without spaces');
  const baseUrl = withPath(options.baseUrl, path);
  const socketUrl = withPath(options.socketUrl ?? baseUrl.href.replace(/^http/, 'ws'), path);
  const [name, prefix] = options.keyHeader;
  const further = Object.entries(options.headers ?? {}).flatMap(([header, value]) => (value ? [[header, value]] : []));
  const credentials = { [name]: prefix + key, ...(Object.fromEntries(further) as Record<string, string>) };
  return { title, timeoutMs, baseUrl, socketUrl, credentials };
}

function withPath(address: string, path: string): URL {
  const url = new URL(address);
  url.pathname = url.pathname.replace(/\/+$/, '') || path;
  return url;
}

/** @param path begins with a slash; it may hold a query */
export function under(base: URL, path: string): URL {
  const url = new URL(base);
  const [pathname = '', query = ''] = path.split('?');
  url.pathname += pathname;
  url.search = query;
  return url;
}

/** A reply repeats the whole session (instructions, tools): some tens of kilobytes at most. */
const MAX_REPLY_BYTES = 256 * 1024;

/** Machine-readable words only: the message of a 401 quotes the key. */
export const word = z
  .string()
  .regex(/^[\w.-]{1,64}$/)
  .optional()
  .catch(undefined);
/** As OpenAI tells errors, as Google does (a `status` in words, and a reason among the details), and as Twirp does: `{code, msg}`. */
const twirpError = z
  .object({ code: z.string().regex(/^\w{1,64}$/), msg: z.string() })
  .transform(({ code }) => ({ error: { type: undefined, code } }));
const vendorError = z.object({
  error: z
    .object({
      type: word,
      code: word,
      status: word,
      details: z
        .array(z.object({ reason: word }))
        .optional()
        .catch(undefined),
    })
    .transform(({ type, code, status, details }) => ({
      type: type ?? status,
      code: code ?? details?.find(({ reason }) => reason !== undefined)?.reason,
    })),
});
const errorReply = z.union([vendorError, twirpError]);

export interface Request {
  /** POST where it is not said. */
  readonly method?: 'GET';
  readonly path: string;
  /** The provider's name of the call that is asked about. */
  readonly callId?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly traceparent?: string | undefined;
  readonly body?: string;
  /** Told the headers of a success, whatever becomes of its body. */
  readonly onSuccess?: (headers: Headers) => void;
  readonly signal: AbortSignal;
  /** What is asked for, in our words: `client secret`. */
  readonly wanted: string;
}

/**
 * One request to the provider, never repeated; a reply other than success is a fault.
 * @throws CallOver when the provider says that it knows the call no more, else UpstreamFault
 */
export async function request(account: Account, asked: Request): Promise<PostReply> {
  const { method, path, callId, headers, traceparent, body, onSuccess, signal, wanted } = asked;
  const { title, baseUrl, credentials, timeoutMs } = account;
  const url = under(baseUrl, path);
  try {
    const send = method === 'GET' ? get : post;
    const reply = await send({
      url,
      headers: { ...credentials, ...headers, ...(traceparent !== undefined && { traceparent }) },
      body,
      timeoutMs,
      maxReplyBytes: MAX_REPLY_BYTES,
      onHead: (head) => (isSuccess(head) ? onSuccess?.(head.headers) : undefined),
      signal,
    });
    if (!isSuccess(reply)) {
      if (callId !== undefined && saysUnknown(reply, callId, url)) throw new CallOver();
      throw refusal(title, reply);
    }
    return reply;
  } catch (error) {
    throw error instanceof PostFailure ? failure(title, wanted, error) : error;
  }
}

function isSuccess({ status }: Pick<PostReply, 'status'>): boolean {
  return status >= 200 && status <= 299;
}

const failures = {
  timeout: ['timeout', 'did not answer in time'],
  unreachable: ['unreachable', 'could not be reached'],
  too_large: ['malformed', 'answered far more than a'],
} as const satisfies Record<PostFailureKind, readonly [UpstreamFaultKind, string]>;

function failure(title: string, wanted: string, { kind, detail }: PostFailure): UpstreamFault {
  const [faultKind, words] = failures[kind];
  const what = kind === 'too_large' ? `${title} ${words} ${wanted}` : `${title} ${words}`;
  return new UpstreamFault(faultKind, what, { detail });
}

function requestIdOf({ headers }: PostReply): string | undefined {
  return word.parse(headers.get('x-request-id') ?? undefined);
}

/** A reply other than success, as a fault that repeats none of its sentences. */
function refusal(title: string, reply: PostReply): UpstreamFault {
  const { status, text } = reply;
  const { data } = errorReply.safeParse(parseJson(text));
  const retryAfterSec = status === 429 ? waitOf(reply) : undefined;
  const facts = { status, ...data?.error, requestId: requestIdOf(reply), retryAfterSec };
  return new UpstreamFault('refused', `${title} refused the request`, facts);
}

/** Providers that say nothing mean a moment; nobody is told to wait for longer than an hour. */
const USUAL_WAIT_SEC = 1;
const MAX_WAIT_SEC = 3600;

/** Whole seconds for which the provider asks to wait, from `Retry-After`: seconds, or a date. */
function waitOf({ headers }: PostReply): number {
  const said = headers.get('retry-after') ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? USUAL_WAIT_SEC : Math.min(MAX_WAIT_SEC, Math.max(1, Math.ceil(seconds)));
}

const namedError = z.object({ error: z.looseObject({}) });

/**
 * Whether a refusal says in the provider's own words that it knows the call no more: its code for that, or 404 or 410 with an error that
 * names the call. Any proxy, wrong address or wrong path is a 404 as well: what only repeats the path that was asked for names no call.
 */
function saysUnknown({ status, text }: Pick<PostReply, 'status' | 'text'>, callId: string, url: URL): boolean {
  const body = parseJson(text);
  if (errorReply.safeParse(body).data?.error.code === 'call_id_not_found') return true;
  const { data } = namedError.safeParse(body);
  if (data === undefined || (status !== 404 && status !== 410)) return false;
  return JSON.stringify(data.error)
    .replaceAll(url.pathname + url.search, '')
    .includes(callId);
}

/** A success that is not what was asked for. */
export function malformed(
  { title }: Account,
  wanted: string,
  reply: PostReply,
  detail: UpstreamFaultFacts['detail'],
): UpstreamFault {
  const { status } = reply;
  return new UpstreamFault('malformed', `${title} answered no ${wanted}`, {
    status,
    requestId: requestIdOf(reply),
    detail,
  });
}

/** What a success says. @throws UpstreamFault with the names of the fields that are not as they should be, never what they hold */
export function readReply<T>(account: Account, wanted: string, reply: PostReply, schema: z.ZodType<T>): T {
  const { data, error } = schema.safeParse(parseJson(reply.text));
  if (data !== undefined) return data;
  const detail = error?.issues.map(({ path }) => path.join('.') || 'body').join(' ');
  throw malformed(account, wanted, reply, detail);
}

/** Reads the body of an upgrade to a call that was refused. */
export async function refusedUpgrade(
  title: string,
  response: IncomingMessage,
  callId: string,
  url: URL,
): Promise<CallOver | UpstreamFault> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > 4096) break;
    }
  } catch {
    // The status tells enough.
  }
  const { statusCode: status = 0, headers } = response;
  const reply = { status, text, headers: new Headers({ 'retry-after': headers['retry-after'] ?? '' }) };
  return saysUnknown(reply, callId, url) ? new CallOver() : refusal(title, reply);
}
