import type { Code } from './error-codes.ts';

interface Help {
  /** What a client does next: the words of docs/contract.md, section 2.3. */
  readonly action: string;
  /** Why it happens, most frequent first, each with what helps. */
  readonly causes: readonly string[];
}

/** What helps whoever meets an error: the API reference has an entry for each code. */
export const ERROR_HELP: Readonly<Record<Code, Help>> = {
  INVALID_REQUEST: {
    action: 'correct what `details` names',
    causes: [
      '`details` names each field, parameter or header that is wrong by its path, and says in words what is expected there.',
      'The JSON is cut off or has a comma too many: send what a JSON library writes.',
      'A header that must be single came twice, as some proxies do.',
    ],
  },
  AUTH_REQUIRED: {
    action: 'log in, send a service token, or ask for another ticket',
    causes: [
      'The console login has run out or was revoked: ask for a new code.',
      'A back end sent no `Authorization: Bearer` header, or a token that SERVICE_TOKENS does not name.',
      'A ticket opens one call, once and for a short time: `POST /api/realtime/ticket` gives another.',
    ],
  },
  INVALID_OTP: {
    action: 'request a new code',
    causes: [
      'The code was mistyped, is older than its time or was used already; only the newest that was sent counts.',
      'After the tries that a code allows, also the right one is refused: ask for another.',
    ],
  },
  INVALID_WIDGET_KEY: {
    action: 'check the configuration',
    causes: [
      'The key of the page is not that of `switchboard keys list`: it was mistyped, or revoked.',
      'The `tenantId` of the request is not that of the key; it may be left out.',
      'A demo key works in development only: issue one with `switchboard keys issue`.',
    ],
  },
  KEY_PAUSED: {
    action: 'try again later',
    causes: [
      'An operator has paused the key, in the console or with `switchboard keys pause`. Sessions that are open go on; `switchboard keys resume` lets new ones begin.',
    ],
  },
  BOT_BLOCKED: {
    action: 'refresh the browser',
    causes: [
      'The request looks like a script: no browser’s `User-Agent`, or one of a known robot.',
      'A back end created the session for a visitor and sent the `User-Agent` of its HTTP library. Visitors are judged: pass on the visitor’s `User-Agent` and the headers of your bot-detection library, beside the `Origin` of the widget key.',
      'A console login is judged like a widget key. In development nobody is judged (`BOT_PROVIDER=none`).',
    ],
  },
  FORBIDDEN: {
    action: 'ask whoever runs the installation for the right',
    causes: [
      'In the operator API: the role of the caller may see and not change, or has no part in this tenant.',
      'The widget key is pinned to other agents, or allows no overrides: send only what it allows.',
      'No tenant admits this console user: an operator adds the address to its `admins`.',
      '`/dev/mail` opens only on the machine itself, at `http://localhost`.',
    ],
  },
  ORIGIN_MISMATCH: {
    action: "use the key's origin",
    causes: [
      'A key works on one origin: scheme, host and port must be the same. `www` and no `www` are two, `http` and `https` too.',
      'The page is opened from a file or in a sandboxed frame: its origin is `null`.',
      'A request with the console cookie came from a page that is not among the console’s origins.',
    ],
  },
  SESSION_DURATION_EXCEEDED: {
    action: 'start a new session',
    causes: [
      '`reason` tells what ended it: its time, silence, the day’s budget, its owner, an operator, or the provider.',
      'A page that slept sends heartbeats too late: each that comes after the end gets this answer.',
    ],
  },
  NOT_FOUND: {
    action: 'check the path against `/docs`',
    causes: [
      'The path has a spelling mistake, or a proxy adds or removes a part of it.',
      'What was asked for was deleted.',
    ],
  },
  SESSION_NOT_FOUND: {
    action: 'start a new session',
    causes: [
      'The `sm_session_id` is cut off or of another installation.',
      'It was created with an e-mail address: the same one must come along, or a service token.',
    ],
  },
  METHOD_NOT_ALLOWED: {
    action: 'use a method that `Allow` names',
    causes: ['GET and POST were mixed up; a redirect turns a POST into a GET, for example from `http` to `https`.'],
  },
  AMBIGUOUS: {
    action: 'name the whole id',
    causes: ['A ref is the first 42 characters of an id, and two sessions begin with these.'],
  },
  COUNT_CHANGED: {
    action: 'count again',
    causes: [
      'Sessions began between the count and the end of them: send `dryRun` again, look, and send the new `expected`.',
    ],
  },
  CONFLICT: {
    action: 'choose another',
    causes: [
      'The tenant has a key of this id already, perhaps a revoked one: ids are not used twice.',
      'The tenant has as many keys as it may (`maxKeys`): revoke one first.',
      'The `batchId` is not of an act that the same operator began.',
    ],
  },
  CALL_IN_PROGRESS: {
    action: 'wait for its answer',
    causes: ['Two tabs or a double click opened the call of one session at the same time.'],
  },
  PAYLOAD_TOO_LARGE: {
    action: 'send less',
    causes: [
      '`instructions` or `tools` are too long: define the agent in the tenants file, and name it with `agentId`.',
      'An offer that holds more candidates or codecs than a call needs.',
    ],
  },
  UNSUPPORTED_MEDIA_TYPE: {
    action: 'send the content type that the request names, in UTF-8 and not compressed',
    causes: [
      '`Content-Type` is missing: `curl -d` alone sends a form. JSON needs `application/json`, an offer `application/sdp`.',
    ],
  },
  IDEMPOTENCY_MISMATCH: {
    action: 'use a new key',
    causes: [
      'An `Idempotency-Key` stands for one request: draw a new one at random for each, and repeat it only with the same body.',
    ],
  },
  USAGE_IMPLAUSIBLE: {
    action: 'correct the report',
    causes: [
      'The report has a total where it should have the growth since the last one.',
      'WIDGET_MAX_TOKENS_PER_MINUTE is lower than what the model uses.',
    ],
  },
  QUERY_TOO_BROAD: {
    action: 'ask for less',
    causes: ['Choose a shorter range or a filter, and follow `nextCursor` for more.'],
  },
  DAILY_QUOTA_EXCEEDED: {
    action: 'try again the next day',
    causes: [
      'Tokens or dollars of the user, the key, the agent or the tenant are used up; `resetAt` of the totals tells when they begin anew.',
      'An offer may also be refused because other sessions hold back what is left; its ticket opens the call once one of them has ended or gone idle.',
      'With `counted: true` the report that crossed the line was counted: do not send it again.',
    ],
  },
  MAX_CONCURRENT_SESSIONS: {
    action: 'close one',
    causes: [
      'Pages that are left without an end hold their session until it is silent for too long: call `end()` when a page goes.',
      'The limit is that of the caller, the key or the tenant; operators see in the console which.',
    ],
  },
  RATE_LIMIT_EXCEEDED: {
    action: 'wait `retryAfter` seconds',
    causes: [
      'More requests in a minute than one address, user or operator may send; `X-RateLimit-Remaining` tells what is left.',
      'Several visitors behind one address, and a proxy that is not among TRUST_PROXY.',
      'Too many codes for one address within an hour.',
    ],
  },
  INTERNAL_ERROR: {
    action: 'try again',
    causes: ['A fault of the service. Its cause is in the log under `X-Request-Id`: tell the operator that id.'],
  },
  UPSTREAM_ERROR: {
    action: 'try again',
    causes: [
      'The provider is disturbed, or knows neither this model nor this voice.',
      'Its key is wrong or has no budget: the log tells under `X-Request-Id`.',
    ],
  },
  SERVICE_UNAVAILABLE: {
    action: 'try again',
    causes: [
      'The database, the registry or the mail server does not answer; `GET /readyz` tells which. Wait as long as `Retry-After` says.',
    ],
  },
  UPSTREAM_TIMEOUT: {
    action: 'try again',
    causes: [
      'The provider took longer than UPSTREAM_TIMEOUT_MS allows. A create with an `Idempotency-Key` can be repeated without a second session.',
    ],
  },
};
