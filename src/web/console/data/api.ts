/** Requests to the service, with the browser's cookie. Nothing here throws: failures are values that a view can show. */
import { signal } from '@preact/signals';
import { noteServerTime } from './server-time.ts';
import { SECOND_MS } from './durations.ts';

export interface Refusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: string;
  /** For the person who uses the page. */
  readonly message: string;
  /** What exactly was wrong, and what to do about it. */
  readonly error: string;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** In seconds. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
}

export type Failure =
  | Refusal
  /** No answer: the service is down or cannot be reached. */
  | { readonly kind: 'away' }
  /** Nobody is logged in any longer. */
  | { readonly kind: 'login' }
  /** It does not exist, or the operator may not see it. */
  | { readonly kind: 'missing' };

export type Answer<T> =
  | { readonly ok: true; readonly body: T; readonly text: string }
  | { readonly ok: false; readonly failure: Failure };

/** Reads the next page of a list. @returns why that failed, or undefined */
export type ReadMore = () => Promise<Failure | undefined>;

/** Whether a request found that the login has ended. The frame then asks for a new one, on top of the page. */
export const isLoginLost = signal(false);

const TIMEOUT_MS = 15 * SECOND_MS;
/** The console is in English, so replies should be too. */
const ENGLISH = { 'Accept-Language': 'en' };

export function get<T>(path: string): Promise<Answer<T>> {
  return send('GET', path);
}

/** @param signal aborts the request; without it, the request times out */
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
  // The messages of these codes are written for API clients.
  if (status === 404 && (code === 'NOT_FOUND' || code === 'SESSION_NOT_FOUND')) return { kind: 'missing' };
  if (status === 401 && code !== 'INVALID_OTP') {
    // The reply that says that nobody is logged in has no code, and no login is lost.
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

/** Whether the failure is temporary, so that what was shown before can stay. */
export function isPassing(failure: Failure): boolean {
  return failure.kind === 'away' || (failure.kind === 'refused' && (failure.status >= 500 || failure.status === 429));
}

/** Whether the caller lacks permission. */
export function isForbidden(failure: Failure): boolean {
  return failure.kind === 'refused' && failure.status === 403 && failure.code === 'FORBIDDEN';
}
