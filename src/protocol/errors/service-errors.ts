import type { ErrorRow } from './error-row.ts';

export const serviceErrors = {
  INTERNAL_ERROR: {
    status: 500,
    label: 'a fault of the service',
    meaning: 'a fault, never with internals; the cause is in the log under the request id',
    isTransient: true,
    action: 'try again',
    causes: ['A fault of the service. Its cause is in the log under `X-Request-Id`: give the operator that id.'],
    example: { error: 'An unexpected fault; the operator finds its cause under request id req_AMumvXlM6.' },
    layer: 'service',
    explanation: 'A fault of the service; its cause is in the log under the request id',
  },
  UPSTREAM_ERROR: {
    status: 502,
    label: 'the provider refused',
    meaning: 'the provider refused, or answered nonsense',
    action: 'try again',
    causes: [
      'The provider has a problem, or does not know this model or voice.',
      'The provider key is wrong or has no credit left: the log has the details under `X-Request-Id`.',
    ],
    example: {
      error: 'The voice provider refused or gave no usable answer; the operator finds why in the log.',
    },
    layer: 'mint',
    explanation: 'The voice provider refused or gave no usable answer; the log has its words under the request id',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    label: 'a part of the service is away',
    meaning: 'a dependency is away, or the answer was not ready in time; with `Retry-After`',
    isTransient: true,
    action: 'try again',
    causes: [
      'The database, the registry or the mail server does not answer; `GET /readyz` shows which. Wait as long as `Retry-After` says.',
    ],
    example: { error: 'A part of the service (database) is away; try again shortly.', retryAfter: 2 },
    layer: 'service',
    explanation: ({ detail }) =>
      `A part of the service was away${detail.fact === undefined ? '' : `: the ${detail.fact}`}`,
  },
  UPSTREAM_TIMEOUT: {
    status: 504,
    label: 'the provider did not answer in time',
    meaning: 'the provider did not answer in time',
    action: 'try again',
    causes: [
      'The provider took longer than UPSTREAM_TIMEOUT_MS allows. A create with an `Idempotency-Key` can be repeated without a second session.',
    ],
    example: { error: 'The voice provider did not answer in time; try again.' },
    layer: 'mint',
    lever: 'UPSTREAM_TIMEOUT_MS',
    explanation: 'The voice provider did not answer in time',
  },
} as const satisfies Record<string, ErrorRow>;
