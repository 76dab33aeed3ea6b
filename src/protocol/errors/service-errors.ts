import type { ErrorRow } from './error-row.ts';

export const serviceErrors = {
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'a fault, never with internals; the cause is in the log under the request id',
    isTransient: true,
    action: 'try again',
    causes: ['A fault of the service. Its cause is in the log under `X-Request-Id`: tell the operator that id.'],
    example: { error: 'An unexpected fault; the operator finds its cause under request id req_AMumvXlM6.' },
    userMessage: {
      en: 'Something went wrong on our side. Please try again.',
      de: 'Bei uns ist ein Fehler aufgetreten. Bitte versuchen Sie es erneut.',
      fr: 'Un problème est survenu de notre côté. Veuillez réessayer.',
      es: 'Ha ocurrido un error por nuestra parte. Inténtelo de nuevo.',
      ja: 'サーバー側で問題が発生しました。もう一度お試しください。',
    },
    layer: 'service',
    explanation: 'A fault of the service; its cause is in the log under the request id',
  },
  UPSTREAM_ERROR: {
    status: 502,
    meaning: 'the provider refused, or answered nonsense',
    action: 'try again',
    causes: [
      'The provider is disturbed, or knows neither this model nor this voice.',
      'Its key is wrong or has no budget: the log tells under `X-Request-Id`.',
    ],
    example: {
      error: 'The voice provider refused or gave no usable answer; the operator finds why in the log.',
    },
    userMessage: {
      en: 'The voice service is not available right now. Please try again.',
      de: 'Der Sprachdienst ist gerade nicht verfügbar. Bitte versuchen Sie es erneut.',
      fr: 'Le service vocal n’est pas disponible pour le moment. Veuillez réessayer.',
      es: 'El servicio de voz no está disponible en este momento. Inténtelo de nuevo.',
      ja: '音声サービスは現在ご利用いただけません。もう一度お試しください。',
    },
    layer: 'mint',
    explanation: 'The voice provider refused or gave no usable answer; the log has its words under the request id',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'a dependency is away, or the answer was not ready in time; with `Retry-After`',
    isTransient: true,
    action: 'try again',
    causes: [
      'The database, the registry or the mail server does not answer; `GET /readyz` tells which. Wait as long as `Retry-After` says.',
    ],
    example: { error: 'A part of the service (database) is away; try again shortly.', retryAfter: 2 },
    userMessage: {
      en: 'The service is busy right now. Please try again in a moment.',
      de: 'Der Dienst ist gerade ausgelastet. Bitte versuchen Sie es gleich noch einmal.',
      fr: 'Le service est très sollicité. Veuillez réessayer dans un instant.',
      es: 'El servicio está ocupado en este momento. Inténtelo de nuevo dentro de unos instantes.',
      ja: 'サービスが混み合っています。しばらくしてから、もう一度お試しください。',
    },
    layer: 'service',
    explanation: ({ detail }) =>
      `A part of the service was away${detail.fact === undefined ? '' : `: the ${detail.fact}`}`,
  },
  UPSTREAM_TIMEOUT: {
    status: 504,
    meaning: 'the provider did not answer in time',
    action: 'try again',
    causes: [
      'The provider took longer than UPSTREAM_TIMEOUT_MS allows. A create with an `Idempotency-Key` can be repeated without a second session.',
    ],
    example: { error: 'The voice provider did not answer in time; try again.' },
    userMessage: {
      en: 'The voice service did not answer in time. Please try again.',
      de: 'Der Sprachdienst hat nicht rechtzeitig geantwortet. Bitte versuchen Sie es erneut.',
      fr: 'Le service vocal n’a pas répondu à temps. Veuillez réessayer.',
      es: 'El servicio de voz no ha respondido a tiempo. Inténtelo de nuevo.',
      ja: '音声サービスから時間内に応答がありませんでした。もう一度お試しください。',
    },
    layer: 'mint',
    lever: 'UPSTREAM_TIMEOUT_MS',
    explanation: 'The voice provider did not answer in time',
  },
} as const satisfies Record<string, ErrorRow>;
