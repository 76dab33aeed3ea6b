import type { ErrorRow, RefusalFacts } from './error-row.ts';

export const accessErrors = {
  AUTH_REQUIRED: {
    status: 401,
    label: 'nobody is logged in',
    meaning: 'no valid credential where one is needed; a ticket that is unknown, spent or over',
    action: 'log in, send a service token, or ask for another ticket',
    causes: [
      'The console login has run out or was revoked: ask for a new code.',
      'A back end sent no `Authorization: Bearer` header, or a token that SERVICE_TOKENS does not name.',
      'A ticket opens one call, once and for a short time: `POST /api/realtime/ticket` gives another.',
    ],
    example: { error: 'Log in to the console, or send a service token.' },
    layer: 'login',
    explanation: 'The request proved nobody: no login, token or unused ticket came with it',
  },
  INVALID_OTP: {
    status: 401,
    label: 'a wrong or old login code',
    meaning: 'wrong, expired or used code',
    action: 'request a new code',
    causes: [
      'The code was mistyped, is older than its time or was used already; only the newest that was sent counts.',
      'After the tries that a code allows, also the right one is refused: ask for another.',
    ],
    example: { error: 'The code is wrong, used, or has expired; ask for a new one.' },
    layer: 'login',
    lever: 'MAX_OTP_VERIFY_ATTEMPTS',
    explanation: ({ detail }) =>
      `The login code was ${detail.fact === undefined ? 'wrong, used or expired, or its attempts were spent' : `not looked at: ${detail.fact}`}`,
  },
  INVALID_WIDGET_KEY: {
    status: 401,
    label: 'an unknown or revoked key',
    meaning: "the widget key is unknown, revoked or another tenant's",
    action: 'check the configuration',
    causes: [
      'The key of the page is not that of `switchboard keys list`: it was mistyped, or revoked.',
      'The `tenantId` of the request is not that of the key; it may be left out.',
      'A demo key works in development only: issue one with `switchboard keys issue`.',
      'A back end sent a service token and no key to `POST /api/session`: `POST /v1/realtime/client_secrets` takes one.',
    ],
    example: { error: 'The widgetKey is unknown, revoked or not of this tenant.' },
    layer: 'key',
    explanation: ({ detail, of: { keyId } }) =>
      `The widget key${keyId == null ? '' : ` ${keyId}`} was refused: ${detail.fact ?? 'it is unknown, revoked or of another tenant'}`,
  },
  KEY_PAUSED: {
    status: 403,
    label: 'a paused key',
    meaning: 'the widget key is paused: it opens no new sessions for the time being',
    action: 'try again later',
    causes: [
      'An operator has paused the key, in the console or with `switchboard keys pause`. Sessions that are open go on; `switchboard keys resume` lets new ones begin.',
    ],
    example: { error: 'This widgetKey is paused: it opens no sessions until it is resumed.' },
    layer: 'key',
    explanation: ({ of }) => `The widget key ${of.keyId ?? ''} was paused, and opens no new sessions`,
  },
  SERVICE_STOPPED: {
    status: 403,
    label: 'the emergency stop',
    meaning: 'an operator has stopped the service: nothing is opened, and what was open was ended',
    action: 'try again later',
    causes: [
      'Somebody used the emergency switch, for the whole installation or for one tenant. `GET /api/operator/stop` says who and why; `switchboard resume` lets sessions begin again.',
    ],
    example: { error: 'An operator has stopped this service: it opens no sessions until it is resumed.' },
    layer: 'service',
    explanation: 'The service was stopped by an operator, and opens nothing until it is resumed',
  },
  BOT_BLOCKED: {
    status: 403,
    label: 'judged a bot',
    meaning: 'the bot verdict is negative; where a challenge would change it, `challenge` has it',
    action: 'refresh the browser, or solve the challenge',
    causes: [
      'A challenge is due (`BOT_PROVIDER`): the element solves it by itself; other clients solve `challenge` and send the create once more with `X-Switchboard-Challenge`.',
      'The request looks like a script: no browser’s `User-Agent`, or one of a known robot.',
      'A back end created the session for a visitor and sent the `User-Agent` of its HTTP library. Visitors are judged: pass on the visitor’s `User-Agent` and the headers of your bot-detection library, beside the `Origin` of the widget key.',
      'A console login is judged like a widget key. In development nobody is judged (`BOT_PROVIDER=none`).',
    ],
    example: { error: 'The bot verdict on this request is negative.' },
    layer: 'bot',
    lever: 'BOT_PROVIDER',
    explanation: ({ detail }) =>
      `The caller was judged a bot${detail.verdict === undefined ? '' : ` (${detail.verdict})`}${detail.fact === undefined ? '' : `: ${detail.fact}`}`,
  },
  FORBIDDEN: {
    status: 403,
    label: 'may not do this',
    meaning:
      'logged in, but without a role that may do this in the operator API; an agent or an override that the key does not allow; a tenant that does not admit this console user; `/dev/mail` from another machine',
    action: 'ask whoever runs the installation for the right',
    causes: [
      'In the operator API: the role of the caller may see and not change, or has no part in this tenant.',
      'The widget key is pinned to other agents, or allows no overrides: send only what it allows.',
      'No tenant admits this console user: an operator adds the address to its `admins`.',
      '`/dev/mail` opens only on the machine itself, at `http://localhost`.',
    ],
    example: { error: 'No such tenant admits you; ask its administrator.' },
    layer: 'login',
    lever: 'OPERATOR_EMAILS',
    explanation: forbidden,
  },
  ORIGIN_MISMATCH: {
    status: 403,
    label: 'from a page that may not',
    meaning: 'the origin does not match the key, or may not use the console cookie',
    action: "use the key's origin",
    causes: [
      'A key works on one origin: scheme, host and port must be the same. `www` and no `www` are two, `http` and `https` too.',
      'The page is opened from a file or in a sandboxed frame: its origin is `null`.',
      'A request with the console cookie came from a page that is not among the console’s origins.',
    ],
    example: { error: 'This widgetKey works only from the origin it is bound to, not from https://other.example.' },
    layer: 'origin',
    lever: 'CONSOLE_ORIGINS',
    explanation: mismatch,
  },
} as const satisfies Record<string, ErrorRow>;

function forbidden({ detail }: RefusalFacts): string {
  const { layer, lever, expected, fact } = detail;
  if (layer === 'agent' && fact !== undefined) return `The widget key leaves all to its agent, and ${fact}`;
  if (layer === 'agent') return `The widget key allows ${expected === '' ? 'no agent' : `the agents ${expected}`} only`;
  return lever === 'admins' ? 'No tenant admits this console user' : 'The caller is logged in and may not do this';
}

function mismatch({ detail: { origin, expected } }: RefusalFacts): string {
  const came = origin ?? 'a request without a readable Origin';
  return expected === undefined
    ? `The request came from ${came}, which may not use a console login`
    : `The request came from ${came}, and the key is bound to ${expected}`;
}
