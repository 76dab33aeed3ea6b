import { DEFAULT_LANGUAGE } from '../../protocol/error-translations/languages.ts';
import { preferredLanguage } from '../../protocol/error-translations/accept-language.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { WindowCount } from '../../stores/windows/contract.ts';
import {
  barePolicy,
  httpsOnly,
  noSniff,
  pageHeaders,
  JSON_TYPE,
  type Header,
  type HttpReply,
  type SharedHeaders,
} from '../message.ts';
import type { RequestContext, Answer, Result, Route } from '../route.ts';
import type { Services } from '../services.ts';
import { writeLoginCookie } from './login.ts';
import { originKindOf, corsHeaders } from './origin.ts';

const noStore: Header = ['Cache-Control', 'no-store'];
const varyByLanguage: Header = ['Vary', 'Accept-Language'];

/**
 * Makes the reply to a request from the result of its steps, and counts it. Caches may store a reply only if its route is public and it
 * sets no cookie.
 */
export function createAnswer(
  routes: readonly Route[],
  { core: { config, events, metrics, journal, isHttps }, origins }: Pick<Services, 'core' | 'origins'>,
): (ctx: RequestContext, result: Result) => HttpReply {
  const isTimed = config.debugMetrics;
  const replies = new Map([...routes.map(({ path }) => path), 'none'].map((path) => [path, metrics.repliesOf(path)]));

  let known = knownHeaders();
  let knownFor: ReadonlySet<string> | undefined;

  /** Headers that depend on the origin and the endpoint only; cached, because nearly all replies have one of a few sets. */
  function sharedOf({ endpoint: { access, cors }, origin = '' }: RequestContext, isJson: boolean): SharedHeaders {
    const { widgetOrigins } = origins.directory;
    // Origins change with the keys of tenants.
    if (widgetOrigins !== knownFor) known = knownHeaders();
    knownFor = widgetOrigins;
    const byOrigin = known[access === 'public' ? 'public' : 'private'][cors][isJson ? 'json' : 'other'];
    const found = byOrigin.get(origin);
    if (found !== undefined) return found;
    const kind = originKindOf(origins, origin, cors);
    // A stranger may send any origin, and gets the same headers as a request without one.
    const name = kind === 'console' || kind === 'widget' ? origin : '';
    const shared = byOrigin.get(name);
    if (shared !== undefined) return shared;
    const cache = access === 'public' ? [] : [noStore];
    const type = isJson ? [JSON_TYPE] : [];
    const transport = isHttps() ? [httpsOnly] : [];
    const made = { headers: [noSniff, ...transport, ...cache, ...corsHeaders(kind, origin), ...type] };
    byOrigin.set(name, made);
    return made;
  }

  function count(routeName: string, status: number): void {
    const byStatus = replies.get(routeName);
    if (byStatus !== undefined) byStatus[status] = (byStatus[status] ?? 0) + 1;
  }

  /** The window last written, and its header lines: within a minute nearly all replies have the same limit and reset time. */
  let told: WindowCount | undefined;
  let toldLines = '';

  function windowLines(window: WindowCount): string {
    const { limit, remaining, resetAtMs } = window;
    if (told?.limit !== limit || told.resetAtMs !== resetAtMs) {
      told = window;
      toldLines = `\r\nX-RateLimit-Limit: ${limit}\r\nX-RateLimit-Reset: ${Math.ceil(resetAtMs / 1000)}\r\nX-RateLimit-Remaining: `;
    }
    return toldLines + remaining;
  }

  /** The headers that differ from reply to reply. */
  function linesOf({ request, limit, startedAt }: RequestContext): string {
    const lines = `\r\nX-Request-Id: ${request.requestId}`;
    const timed = isTimed ? `\r\nServer-Timing: total;dur=${(performance.now() - startedAt).toFixed(3)}` : '';
    return limit === undefined ? lines + timed : lines + windowLines(limit) + timed;
  }

  function refuse(ctx: RequestContext, refusal: Refusal, headers: Header[]): Answer {
    const { access, allow, routeName: route } = ctx.endpoint;
    const language =
      access === 'operator' ? DEFAULT_LANGUAGE : preferredLanguage(ctx.request.headers['accept-language']);
    headers.push(['Content-Language', language]);
    // Caches store only public replies, and must know that this one depends on the language.
    if (access === 'public') headers.push(varyByLanguage);
    if (refusal.additions.retryAfter !== undefined) headers.push(['Retry-After', String(refusal.additions.retryAfter)]);
    if (refusal.code === 'METHOD_NOT_ALLOWED') headers.push(['Allow', allow]);
    const { requestId, atMs } = ctx.request;
    const { ip: address, origin: from } = ctx;
    events.refused(refusal.code, route, requestId, refusal.error, refusal.why);
    journal.refusals.keep({ requestId, atMs, route, address, origin: from }, refusal);
    return { status: refusal.status, body: refusal.bodyIn(language) };
  }

  return (ctx, result) => {
    const headers: Header[] = [];
    const cookie = (result instanceof Refusal ? undefined : result.cookie) ?? ctx.cookie;
    if (cookie !== undefined) headers.push(['Set-Cookie', writeLoginCookie(cookie, ctx.request.atMs, isHttps())]);
    const refusal = result instanceof Refusal ? result : 'refusal' in result ? result.refusal : undefined;
    const answer: Answer = refusal === undefined ? (result as Answer) : refuse(ctx, refusal, headers);
    if (answer.headers !== undefined) headers.push(...answer.headers);
    const { window, routeName } = ctx.endpoint;
    if (window === 'page') addPageHeaders(headers);
    const isJson = answer.isJson === true || isObject(answer.body);
    const reply = toReply(answer, sharedOf(ctx, isJson), headers, linesOf(ctx));
    count(routeName, reply.status);
    events.requestAnswered?.(ctx.request, routeName, reply.status, performance.now() - ctx.startedAt, refusal?.code);
    return reply;
  };
}

/** Empty caches of shared headers by origin, one for each kind of reply. */
function knownHeaders() {
  const byType = () => ({ json: new Map<string, SharedHeaders>(), other: new Map<string, SharedHeaders>() });
  const byScope = () => ({ everybody: byType(), widgets: byType(), console: byType() });
  return { public: byScope(), private: byScope() };
}

function addPageHeaders(headers: Header[]): void {
  headers.push(...pageHeaders);
  if (!headers.some(([name]) => name === barePolicy[0])) headers.push(barePolicy);
}

function isObject(body: Answer['body']): body is object {
  return typeof body !== 'string' && !Buffer.isBuffer(body);
}

/** @param own headers of this reply only */
function toReply(answer: Answer, shared: SharedHeaders, own: Header[], lines: string): HttpReply {
  const { status, body, parts, client } = answer;
  const text = isObject(body) ? JSON.stringify(body) : body;
  if (!own.some(changesShared)) return { status, shared, lines, headers: own, body: text, parts, client };
  return { status, shared: undefined, lines, headers: merged(shared.headers, own), body: text, parts, client };
}

/** All headers in one list, for replies whose own headers change shared ones. */
function merged(shared: readonly Header[], own: readonly Header[]): Header[] {
  const headers = [...shared];
  for (const header of own) addHeader(headers, header);
  if (headers.some(setsCookie)) keepPrivate(headers);
  return headers;
}

/** Adds a header; Vary is merged into one list. */
function addHeader(headers: Header[], added: Header): void {
  const at = added[0] === 'Vary' ? headers.findIndex(([name]) => name === 'Vary') : -1;
  if (at < 0) headers.push(added);
  else headers[at] = ['Vary', `${headers[at]?.[1]}, ${added[1]}`];
}

/** Forbids caching, whatever the route says and whoever set the cookie: a cached login would be served to everybody. */
function keepPrivate(headers: Header[]): void {
  for (let at = headers.length - 1; at >= 0; at -= 1)
    if (headers[at]?.[0].toLowerCase() === 'cache-control') headers.splice(at, 1);
  headers.push(noStore);
}

function changesShared(header: Header): boolean {
  return header[0] === 'Vary' || setsCookie(header);
}

function setsCookie([name]: Header): boolean {
  return name.toLowerCase() === 'set-cookie';
}
