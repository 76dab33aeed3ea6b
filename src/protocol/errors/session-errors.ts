import { amount, type ErrorRow, type RefusalFacts } from './error-row.ts';

export const sessionErrors = {
  SESSION_DURATION_EXCEEDED: {
    status: 403,
    label: 'the session had ended before',
    meaning: 'the session has ended; `reason` tells why',
    action: 'start a new session',
    causes: [
      '`reason` says what ended it: its time, silence, the day’s budget, its owner, an operator, or the provider.',
      'A page that was asleep sends heartbeats too late: every heartbeat after the end gets this reply.',
    ],
    example: { error: 'The session is over (duration_exceeded).', reason: 'duration_exceeded', maxMinutes: 15 },
    layer: 'machine',
    explanation: ({ detail }) =>
      `The session had ended before${detail.reason === undefined ? '' : `: ${detail.reason}`}`,
  },
  SESSION_NOT_FOUND: {
    status: 404,
    label: 'an unknown session, or without its proof',
    meaning: "unknown session, or an e-mail address that is not the session's: indistinguishable on purpose",
    action: 'start a new session',
    causes: [
      'The `sm_session_id` is cut off, or belongs to another installation.',
      'It was created with an e-mail address: send the same address, or a service token.',
    ],
    example: { error: 'No such session, or the e-mail is not its own.' },
    layer: 'proof',
    explanation: "The session is unknown, or the e-mail address that came along is not the session's",
  },
  RESUME_REFUSED: {
    status: 409,
    label: 'a page that could not go on',
    meaning: 'the resume token is unknown, used or too old, or its session is over; nothing was opened',
    action: 'start a new session when the visitor asks for one',
    causes: [
      'The previous page was left more than two minutes ago, or its session ended meanwhile.',
      'The token was used: each works once, and the `attached` frame of each socket has a new one.',
      'The session has used up its calls (`CALLS_PER_SESSION`): raise it for sites with many pages.',
      'The widget key or `email` is not that of the create.',
    ],
    example: {
      error: 'This conversation cannot be continued: its token is unknown, used or too old, or the session is over.',
    },
    layer: 'proof',
    explanation: ({ detail }) =>
      `A page could not go on with a session${detail.fact === undefined ? '' : `: ${detail.fact}`}`,
  },
  USAGE_IMPLAUSIBLE: {
    status: 422,
    label: 'more usage than there can be',
    meaning: 'more usage than a session of this length may report; nothing was counted',
    action: 'correct the report',
    causes: [
      'The report has the total instead of the increase since the last report.',
      'WIDGET_MAX_TOKENS_PER_MINUTE is lower than what the model uses.',
    ],
    example: {
      error: 'More than this session can have used in its time; nothing was counted (WIDGET_MAX_TOKENS_PER_MINUTE).',
    },
    layer: 'quota',
    lever: 'WIDGET_MAX_TOKENS_PER_MINUTE',
    explanation: 'The client reported more than a session of this length can have used; nothing was counted',
  },
  CALL_IN_PROGRESS: {
    status: 409,
    label: 'another call is being opened',
    meaning: 'another call of the session is being opened at this moment',
    action: 'wait for its answer',
    causes: ['Two tabs or a double click opened the call of one session at the same time.'],
    example: { error: 'Another call of this session is being opened; wait for its answer.' },
    layer: 'slot',
    explanation: 'Another call of the session was being opened at that moment',
  },
  CALL_NOT_OPEN: {
    status: 409,
    label: 'no call is open and heard',
    meaning: 'the session has no call that is open and heard at this moment; nothing was said in it',
    action: 'open a call, or send the same frame again',
    causes: [
      'The call is over, or is being connected: `call` frames with `state` show which.',
      'For a moment nobody hears the call, because its node stopped or the provider closed a connection.',
    ],
    example: { error: 'No call of this session is open.' },
    layer: 'machine',
    explanation: 'No call of the session was open and heard at that moment',
  },
  TOOL_UNKNOWN: {
    status: 404,
    label: 'no such tool waits for an answer',
    meaning: 'the call waits for no answer of a tool by this id',
    action: 'nothing: the answer is not needed any more',
    causes: [
      'Another page of the session was first, or the answer came after 30 seconds.',
      'It is a server tool, belongs to another session, or was requested before another process took over the call.',
    ],
    example: { error: 'The call waits for no tool by this id.' },
    layer: 'proof',
    explanation: 'The call waited for no answer of a tool by this id',
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    label: 'a ceiling of the day is reached',
    meaning: 'a total of the day is used up, or what is left of it is held by sessions that talk',
    action: 'try again the next day, or when the `budget` of the reply begins anew',
    causes: [
      'Tokens or dollars of the user, the key, the agent or the tenant are used up; `resetAt` of the totals says when they start again.',
      'An offer may also be refused because other sessions hold back what is left; its ticket opens the call once one of them has ended or gone idle.',
      'With `counted: true` the report that crossed the line was counted: do not send it again.',
    ],
    example: { error: "The day's tokens or dollars are used up." },
    layer: 'quota',
    explanation: spent,
  },
  MAX_CONCURRENT_SESSIONS: {
    status: 429,
    label: 'too many sessions at once',
    meaning: 'too many sessions are open',
    action: 'close one',
    causes: [
      'Pages that are closed without ending their session keep it open until it has been silent for too long: call `end()` when a page is closed.',
      'The limit is that of the caller, the key or the tenant; the console shows operators which.',
    ],
    example: { error: '10 sessions are open already; end one with /api/realtime/end.' },
    layer: 'slot',
    explanation: ({ detail }) =>
      `${amount(detail.limit, 'sessions') ?? 'Too many sessions'} ${detail.limit === 1 ? 'was' : 'were'} open already`,
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    label: 'too many requests in a time',
    meaning: 'too many requests, sessions a minute or codes an hour, or the provider asks to wait',
    isTransient: true,
    action: 'wait `retryAfter` seconds',
    causes: [
      'More requests in a minute than one address, user or operator may send; `X-RateLimit-Remaining` shows how many are left.',
      'Several visitors behind one address, and a proxy that is not among TRUST_PROXY.',
      'Too many codes for one address within an hour.',
    ],
    example: { error: 'More than 60 requests in a minute; wait 30 s.', retryAfter: 30 },
    layer: 'edge',
    lever: 'RATE_IP_PER_MIN',
    explanation: tooMany,
  },
} as const satisfies Record<string, ErrorRow>;

function spent({ detail: { limit, count, unit, fact, lever } }: RefusalFacts): string {
  if (fact !== undefined) return `Nothing is left of the day's ceiling: ${fact}`;
  const [used, ceiling] = [amount(count, unit), amount(limit, unit)];
  if (lever?.startsWith('budget ') === true) return `${used ?? 'All'} of the budget’s ${ceiling ?? 'limit'} were used`;
  return used === undefined || ceiling === undefined
    ? "A ceiling of the day's tokens or dollars was reached"
    : `${used} of the day's ${ceiling} were used`;
}

function tooMany({ detail: { layer, limit, unit, lever } }: RefusalFacts): string {
  if (layer === 'mint') return 'The voice provider took no more requests at that moment';
  if (layer === 'slot') return `The session had had its ${amount(limit, unit) ?? 'calls'}`;
  const per = layer === 'login' ? 'hour' : 'minute';
  const isShared = layer === 'minute' && lever?.startsWith('totals.') === true;
  const whose = isShared ? ` of the whole ${lever.endsWith(' of the tenant') ? 'tenant' : 'key'}` : '';
  return `More than ${amount(limit, unit) ?? 'the allowed number'}${whose} in one ${per}`;
}
