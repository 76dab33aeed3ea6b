/** Requests to the service, with the cookie that the browser keeps. Nothing here throws: what went wrong is a value that a view can show. */
import { signal } from '@preact/signals';
import { noteServerTime } from './server-time.ts';

export interface Refusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: string;
  /** For whoever looks at the page. */
  readonly message: string;
  /** What exactly was wrong, and what to do. */
  readonly error: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Seconds. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
}

export type Failure =
  | Refusal
  /** No answer: the service, or the way to it, is away. */
  | { readonly kind: 'away' }
  /** Nobody is logged in any more. */
  | { readonly kind: 'login' }
  /** There is no such thing, or not for who asks. */
  | { readonly kind: 'missing' };

export type Answer<T> =
  | { readonly ok: true; readonly body: T; readonly text: string }
  | { readonly ok: false; readonly failure: Failure };

/** Reads the next page of a list. @returns why it could not, or undefined */
export type ReadMore = () => Promise<Failure | undefined>;

/** Whether a request found that the login is over: the frame asks for a new one, over the page. */
export const isLoginLost = signal(false);

const TIMEOUT_MS = 15_000;
/** As the console itself. */
const ENGLISH = { 'Accept-Language': 'en' };

export function get<T>(path: string): Promise<Answer<T>> {
  return send('GET', path);
}

/** @param signal gives it up; without one it is given up after a while */
export function post<T>(path: string, body: object, signal?: AbortSignal): Promise<Answer<T>> {
  return send('POST', path, body, signal);
}

export function patch<T>(path: string, body: object): Promise<Answer<T>> {
  return send('PATCH', path, body);
}

export function remove<T>(path: string): Promise<Answer<T>> {
  return send('DELETE', path);
}

async function send<T>(method: string, path: string, given?: object, signal?: AbortSignal): Promise<Answer<T>> {
  const headers = given === undefined ? ENGLISH : { 'Content-Type': 'application/json', ...ENGLISH };
  const init = { method, headers, body: given && JSON.stringify(given) };
  try {
    const response = await fetch(path, { ...init, signal: signal ?? AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    const body = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>;
    if (!response.ok) return { ok: false, failure: readFailure(response, body) };
    for (const field of ['now', 'asOf']) if (typeof body[field] === 'string') noteServerTime(Date.parse(body[field]));
    return { ok: true, body: body as T, text };
  } catch {
    return { ok: false, failure: { kind: 'away' } };
  }
}

function readFailure({ status, headers }: Response, body: Readonly<Record<string, unknown>>): Failure {
  const code = textOf(body['code']) ?? '';
  // Their own words are for callers.
  if (status === 404 && (code === 'NOT_FOUND' || code === 'SESSION_NOT_FOUND')) return { kind: 'missing' };
  if (status === 401 && code !== 'INVALID_OTP') {
    // The question who is logged in is answered without a code, and loses nothing.
    if (code !== '') isLoginLost.value = true;
    return { kind: 'login' };
  }
  const error = textOf(body['error']) ?? `The service answered ${status}.`;
  return {
    kind: 'refused',
    status,
    code,
    message: textOf(body['userMessage']) ?? error,
    error,
    details: (body['details'] ?? []) as Refusal['details'],
    retryAfter: typeof body['retryAfter'] === 'number' ? body['retryAfter'] : undefined,
    requestId: headers.get('x-request-id') ?? undefined,
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Whether it goes over by itself: what was shown before stays. */
export function isPassing(failure: Failure): boolean {
  return failure.kind === 'away' || (failure.kind === 'refused' && (failure.status >= 500 || failure.status === 429));
}

/** Whether an answer is that the caller may not. */
export function isForbidden(failure: Failure): boolean {
  return failure.kind === 'refused' && failure.status === 403 && failure.code === 'FORBIDDEN';
}
