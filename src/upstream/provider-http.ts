import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Clock } from '../kernel/time.ts';
import { parseJson, get, post, PostFailure, type PostFailureKind, type PostReply } from '../kernel/post.ts';
import {
  CallOver,
  UpstreamFault,
  type UpstreamFaultFacts,
  type UpstreamFaultKind,
  type Capabilities,
  type MintRequest,
} from './contract.ts';

/** A provider's API over HTTP, and the credentials with which we use it. */
export interface Account {
  /** The provider's name in our messages. */
  readonly title: string;
  /** Includes the path that all requests begin with, such as `/v1`. */
  readonly baseUrl: URL;
  /** The same for WebSockets. */
  readonly socketUrl: URL;
  /** Headers that authenticate us. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Milliseconds for one exchange, the reply's body included. */
  readonly timeoutMs: number;
}

/** What every provider is opened with. */
export interface ProviderSettings {
  /** Milliseconds for one exchange, the reply's body included. */
  readonly timeoutMs: number;
  /** Seconds that a client secret is valid: within them a call must be opened with it. */
  readonly clientSecretTtlSec: number;
  readonly clock?: Clock | undefined;
}

export interface AccountOptions {
  readonly title: string;
  readonly baseUrl: string;
  /** Undefined uses the base address with the WebSocket scheme. */
  readonly socketUrl?: string | undefined;
  /** The path for addresses that have none. */
  readonly path: string;
  /** The header for the key, and the prefix before the key in it. */
  readonly keyHeader: readonly [name: string, prefix: string];
  readonly key: string | undefined;
  /** Further headers that identify us; undefined ones are left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
}

/** Identifies an account without revealing it: an account with another key, project or address knows nothing of this one's calls. */
export function fingerprintOf(
  provider: string,
  account: Pick<Account, 'baseUrl' | 'credentials'>,
  key: Buffer,
): string {
  const text = JSON.stringify(['account', provider, account.baseUrl.href, Object.entries(account.credentials)]);
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 16);
}

/** @throws Error without a key, or for a key that cannot be sent as a header */
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

/** @param path begins with a slash; may contain a query */
export function under(base: URL, path: string): URL {
  const url = new URL(base);
  const [pathname = '', query = ''] = path.split('?');
  url.pathname += pathname;
  url.search = query;
  return url;
}

const AS_JSON = { accept: 'application/json', 'content-type': 'application/json' };

/** A reply repeats the whole session (instructions, tools): some tens of kilobytes at most. */
const MAX_REPLY_BYTES = 256 * 1024;

/** Machine-readable words only: the message of a 401 quotes the key. */
export const word = z
  .string()
  .regex(/^[\w.-]{1,64}$/)
  .optional()
  .catch(undefined);
/** Errors as OpenAI reports them; as Google does (a `status` in words, and a reason among the details); and as Twirp does: `{code, msg}`. */
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
  /** POST if undefined. */
  readonly method?: 'GET';
  readonly path: string;
  /** The provider's id of the call that the request is about. */
  readonly callId?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly traceparent?: string | undefined;
  readonly body?: string;
  /** Sent as JSON, in place of `body`; JSON is accepted then. */
  readonly json?: object;
  /** Called with the headers of a success, whatever happens to its body. */
  readonly onSuccess?: (headers: Headers) => void;
  readonly signal: AbortSignal;
  /** What the request asks for, in our words: `client secret`. */
  readonly wanted: string;
}

/**
 * Sends one request to the provider, never repeated; a reply other than success is a fault.
 * @throws CallOver when the provider says that it no longer knows the call, otherwise UpstreamFault
 */
export async function request(account: Account, asked: Request): Promise<PostReply> {
  const { method, path, callId, headers, traceparent, json, onSuccess, signal, wanted } = asked;
  const { title, baseUrl, credentials, timeoutMs } = account;
  const url = under(baseUrl, path);
  try {
    const send = method === 'GET' ? get : post;
    const reply = await send({
      url,
      headers: { ...credentials, ...(json && AS_JSON), ...headers, ...(traceparent !== undefined && { traceparent }) },
      body: json === undefined ? asked.body : JSON.stringify(json),
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

/** Turns a reply other than success into a fault that repeats none of its sentences. */
function refusal(title: string, reply: PostReply): UpstreamFault {
  const { status, text } = reply;
  const { data } = errorReply.safeParse(parseJson(text));
  const retryAfterSec = status === 429 ? waitOf(reply) : undefined;
  const facts = { status, ...data?.error, requestId: requestIdOf(reply), retryAfterSec };
  return new UpstreamFault('refused', `${title} refused the request`, facts);
}

/** The wait if the provider names none, and the longest that anybody is told to wait. */
const USUAL_WAIT_SEC = 1;
const MAX_WAIT_SEC = 3600;

/** Whole seconds that the provider asks to wait, from `Retry-After`: seconds, or a date. */
function waitOf({ headers }: PostReply): number {
  const said = headers.get('retry-after') ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? USUAL_WAIT_SEC : Math.min(MAX_WAIT_SEC, Math.max(1, Math.ceil(seconds)));
}

const namedError = z.object({ error: z.looseObject({}) });

/**
 * Whether a refusal really says that the provider no longer knows the call: by its error code for that, or by 404 or 410 with an error that names the
 * call. A proxy, a wrong address or a wrong path gives a 404 too: an error that only repeats the requested path names no call.
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

/** The fault for a success that is not what was asked for. */
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

/** Parses a success. @throws UpstreamFault with the names of the fields that are wrong, never their values */
export function readReply<T>(account: Account, wanted: string, reply: PostReply, schema: z.ZodType<T>): T {
  const { data, error } = schema.safeParse(parseJson(reply.text));
  if (data !== undefined) return data;
  const detail = error?.issues.map(({ path }) => path.join('.') || 'body').join(' ');
  throw malformed(account, wanted, reply, detail);
}

/** Reads the body of a refused WebSocket upgrade to a call. */
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
    // The status is enough.
  }
  const { statusCode: status = 0, headers } = response;
  const reply = { status, text, headers: new Headers({ 'retry-after': headers['retry-after'] ?? '' }) };
  return saysUnknown(reply, callId, url) ? new CallOver() : refusal(title, reply);
}

interface Part {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** A form of text parts that each state their type and are not files, which `FormData` cannot express. */
export function multipart(parts: readonly Part[]): { readonly type: string; readonly body: string } {
  const boundary = `form-${randomBytes(18).toString('hex')}`;
  const written = parts.map(
    ({ name, type, text }) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\ncontent-type: ${type}\r\n\r\n${text}\r\n`,
  );
  return { type: `multipart/form-data; boundary=${boundary}`, body: `${written.join('')}--${boundary}--\r\n` };
}

/** An upstream session id of our own, for providers that give none: `sess_` and 24 characters. */
export function makeUpstreamSessionId(): string {
  return `sess_${randomBytes(18).toString('base64url')}`;
}

/** Seconds to which a secret limits a session: the wish, within what the provider allows; without a wish the provider's longest. */
export function capDuration(
  { minSec, maxSec }: NonNullable<Capabilities['capDuration']>,
  { maxDurationSec = maxSec }: Pick<MintRequest, 'maxDurationSec'>,
): number {
  return Math.min(Math.max(Math.floor(maxDurationSec), minSec), maxSec);
}
