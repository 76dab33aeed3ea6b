import { pretty } from '../shared/pretty.ts';

/** The largest part of a body that is shown. An export could be endless. */
const MAX_BYTES = 64 * 1024;
/** Headers that tell something about a request, in the order in which they are shown. */
const TELLING = [
  'content-type',
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
  'location',
  'etag',
  'cache-control',
  'content-language',
] as const;

/** The result of a request, as texts. */
export interface Answer {
  /** Whether the request needs a login to the console. */
  readonly needsLogin: boolean;
  /** `200 OK, 12 ms`, or why there was no answer. */
  readonly outcome: string;
  readonly head: string;
  readonly body: string;
}

/** Sends a GET to this server, with the browser's login if there is one. Never throws: if the server does not answer, the answer says so. */
export async function ask(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const startedAt = performance.now();
  try {
    const response = await fetch(path, { headers, cache: 'no-store' });
    const text = await beginningOf(response);
    const ms = Math.round(performance.now() - startedAt);
    const told = TELLING.filter((name) => response.headers.has(name));
    return {
      needsLogin: response.status === 401 && text.includes('"AUTH_REQUIRED"'),
      outcome: `${response.status} ${response.statusText}, ${ms} ms`,
      head: told.map((name) => `${name}: ${response.headers.get(name) ?? ''}`).join('\n'),
      body: pretty(text),
    };
  } catch (fault) {
    return { needsLogin: false, outcome: `No answer: ${String(fault)}`, head: '', body: '' };
  }
}

/** The text of a body, cut off if it is long. The rest is not fetched. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += part.value;
    if (text.length <= MAX_BYTES) continue;
    await reader?.cancel();
    return `${text.slice(0, MAX_BYTES)}\n… and more`;
  }
  return text;
}
