import { BUDGET_WORDS } from '../languages/budgets.ts';
import { amount } from '../refusal-why.ts';
import type { ErrorRow, RefusalFacts } from './error-row.ts';

export const sessionErrors = {
  SESSION_DURATION_EXCEEDED: {
    status: 403,
    meaning: 'the session has ended; `reason` tells why',
    action: 'start a new session',
    causes: [
      '`reason` tells what ended it: its time, silence, the day’s budget, its owner, an operator, or the provider.',
      'A page that slept sends heartbeats too late: each that comes after the end gets this answer.',
    ],
    example: { error: 'The session is over (duration_exceeded).', reason: 'duration_exceeded', maxMinutes: 15 },
    userMessage: {
      en: 'This conversation has ended. Please start a new one.',
      de: 'Dieses Gespräch ist beendet. Bitte beginnen Sie ein neues.',
      fr: 'Cette conversation est terminée. Veuillez en démarrer une nouvelle.',
      es: 'Esta conversación ha terminado. Inicie una nueva.',
      ja: 'この会話は終了しました。新しい会話を始めてください。',
    },
    layer: 'machine',
    explanation: ({ detail }) =>
      `The session had ended before${detail.reason === undefined ? '' : `: ${detail.reason}`}`,
  },
  SESSION_NOT_FOUND: {
    status: 404,
    meaning: "unknown session, or an e-mail address that is not the session's: indistinguishable on purpose",
    action: 'start a new session',
    causes: [
      'The `sm_session_id` is cut off or of another installation.',
      'It was created with an e-mail address: the same one must come along, or a service token.',
    ],
    example: { error: 'No such session, or the e-mail is not its own.' },
    userMessage: {
      en: 'This conversation was not found. Please start a new one.',
      de: 'Dieses Gespräch wurde nicht gefunden. Bitte beginnen Sie ein neues.',
      fr: 'Cette conversation est introuvable. Veuillez en démarrer une nouvelle.',
      es: 'No se ha encontrado esta conversación. Inicie una nueva.',
      ja: 'この会話は見つかりませんでした。新しい会話を始めてください。',
    },
    layer: 'proof',
    explanation: "The session is unknown, or the e-mail address that came along is not the session's",
  },
  RESUME_REFUSED: {
    status: 409,
    meaning: 'the resume token is unknown, used or too old, or its session is over; nothing was opened',
    action: 'start a new session when the visitor asks for one',
    causes: [
      'The page before was left more than two minutes ago, or its session ended meanwhile.',
      'The token was used: each goes on once, and the `attached` frame of each socket has the next.',
      'The session has had its calls (`CALLS_PER_SESSION`): raise it for sites of many pages.',
      'Another widget key or `email` than that of the create.',
    ],
    example: {
      error: 'This conversation cannot be continued: its token is unknown, used or too old, or the session is over.',
    },
    userMessage: {
      en: 'This conversation cannot be continued. Please start a new one.',
      de: 'Dieses Gespräch kann nicht fortgesetzt werden. Bitte beginnen Sie ein neues.',
      fr: 'Cette conversation ne peut pas être reprise. Veuillez en démarrer une nouvelle.',
      es: 'Esta conversación no puede continuar. Inicie una nueva.',
      ja: 'この会話は続けられません。新しい会話を始めてください。',
    },
    layer: 'proof',
    explanation: ({ detail }) =>
      `A page could not go on with a session${detail.fact === undefined ? '' : `: ${detail.fact}`}`,
  },
  USAGE_IMPLAUSIBLE: {
    status: 422,
    meaning: 'more usage than a session of this length may report; nothing was counted',
    action: 'correct the report',
    causes: [
      'The report has a total where it should have the growth since the last one.',
      'WIDGET_MAX_TOKENS_PER_MINUTE is lower than what the model uses.',
    ],
    example: {
      error: 'More than this session can have used in its time; nothing was counted (WIDGET_MAX_TOKENS_PER_MINUTE).',
    },
    userMessage: {
      en: 'This usage report was not accepted.',
      de: 'Diese Verbrauchsmeldung wurde nicht angenommen.',
      fr: 'Ce relevé d’utilisation n’a pas été accepté.',
      es: 'No se ha aceptado este informe de uso.',
      ja: 'この利用量の報告は受け付けられませんでした。',
    },
    layer: 'quota',
    lever: 'WIDGET_MAX_TOKENS_PER_MINUTE',
    explanation: 'The client reported more than a session of this length can have used; nothing was counted',
  },
  CALL_IN_PROGRESS: {
    status: 409,
    meaning: 'another call of the session is being opened at this moment',
    action: 'wait for its answer',
    causes: ['Two tabs or a double click opened the call of one session at the same time.'],
    example: { error: 'Another call of this session is being opened; wait for its answer.' },
    userMessage: {
      en: 'The conversation is being connected already. Please wait a moment.',
      de: 'Das Gespräch wird gerade verbunden. Bitte warten Sie einen Moment.',
      fr: 'La conversation est déjà en cours de connexion. Veuillez patienter un instant.',
      es: 'La conversación ya se está conectando. Espere un momento.',
      ja: '会話はすでに接続中です。少々お待ちください。',
    },
    layer: 'slot',
    explanation: 'Another call of the session was being opened at that moment',
  },
  CALL_NOT_OPEN: {
    status: 409,
    meaning: 'the session has no call that is open and heard at this moment; nothing was said in it',
    action: 'open a call, or send the same frame again',
    causes: [
      'The call is over, or is being connected: the frame `call` with `state` tells.',
      'For a moment nobody hears the call, because its node stopped or the provider closed a connection.',
    ],
    example: { error: 'No call of this session is open.' },
    userMessage: {
      en: 'The conversation is not connected at the moment. Please try again.',
      de: 'Das Gespräch ist gerade nicht verbunden. Bitte versuchen Sie es noch einmal.',
      fr: 'La conversation n’est pas connectée en ce moment. Veuillez réessayer.',
      es: 'La conversación no está conectada en este momento. Inténtelo de nuevo.',
      ja: '現在、会話は接続されていません。もう一度お試しください。',
    },
    layer: 'machine',
    explanation: 'No call of the session was open and heard at that moment',
  },
  TOOL_UNKNOWN: {
    status: 404,
    meaning: 'the call waits for no answer of a tool by this id',
    action: 'nothing: the answer is not needed any more',
    causes: [
      'Another page of the session was first, or the answer came after 30 seconds.',
      'It is a tool of the server, of another session, or was asked for before another process took the call.',
    ],
    example: { error: 'The call waits for no tool by this id.' },
    userMessage: {
      en: 'This answer came too late and was not used.',
      de: 'Diese Antwort kam zu spät und wurde nicht verwendet.',
      fr: 'Cette réponse est arrivée trop tard et n’a pas été utilisée.',
      es: 'Esta respuesta llegó demasiado tarde y no se ha utilizado.',
      ja: 'この応答は遅すぎたため、使用されませんでした。',
    },
    layer: 'proof',
    explanation: 'The call waited for no answer of a tool by this id',
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    meaning: 'a total of the day is used up, or what is left of it is held by sessions that talk',
    action: 'try again the next day, or when the `budget` of the reply begins anew',
    causes: [
      'Tokens or dollars of the user, the key, the agent or the tenant are used up; `resetAt` of the totals tells when they begin anew.',
      'An offer may also be refused because other sessions hold back what is left; its ticket opens the call once one of them has ended or gone idle.',
      'With `counted: true` the report that crossed the line was counted: do not send it again.',
    ],
    example: { error: "The day's tokens or dollars are used up." },
    // Of a ceiling of the day; a budget has the words of its own period.
    userMessage: BUDGET_WORDS.day,
    layer: 'quota',
    explanation: spent,
  },
  MAX_CONCURRENT_SESSIONS: {
    status: 429,
    meaning: 'too many sessions are open',
    action: 'close one',
    causes: [
      'Pages that are left without an end hold their session until it is silent for too long: call `end()` when a page goes.',
      'The limit is that of the caller, the key or the tenant; operators see in the console which.',
    ],
    example: { error: '10 sessions are open already; end one with /api/realtime/end.' },
    userMessage: {
      en: 'Too many conversations are open. Please close one and try again.',
      de: 'Es sind zu viele Gespräche offen. Bitte beenden Sie eines und versuchen Sie es erneut.',
      fr: 'Trop de conversations sont ouvertes. Veuillez en fermer une, puis réessayer.',
      es: 'Hay demasiadas conversaciones abiertas. Cierre una e inténtelo de nuevo.',
      ja: '開いている会話が多すぎます。ほかの会話を終了してから、もう一度お試しください。',
    },
    layer: 'slot',
    explanation: ({ detail }) =>
      `${amount(detail.limit, 'sessions') ?? 'Too many sessions'} ${detail.limit === 1 ? 'was' : 'were'} open already`,
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning: 'too many requests, sessions a minute or codes an hour, or the provider asks to wait',
    isTransient: true,
    action: 'wait `retryAfter` seconds',
    causes: [
      'More requests in a minute than one address, user or operator may send; `X-RateLimit-Remaining` tells what is left.',
      'Several visitors behind one address, and a proxy that is not among TRUST_PROXY.',
      'Too many codes for one address within an hour.',
    ],
    example: { error: 'More than 60 requests in a minute; wait 30 s.', retryAfter: 30 },
    userMessage: {
      en: 'Too many requests. Please wait a moment and try again.',
      de: 'Zu viele Anfragen. Bitte warten Sie einen Moment und versuchen Sie es erneut.',
      fr: 'Trop de demandes. Veuillez patienter un instant, puis réessayer.',
      es: 'Demasiadas solicitudes. Espere un momento e inténtelo de nuevo.',
      ja: 'リクエストが多すぎます。少し待ってから、もう一度お試しください。',
    },
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
