import { amount } from '../refusal-why.ts';
import type { ErrorRow } from './error-row.ts';

export const requestErrors = {
  INVALID_REQUEST: {
    status: 400,
    meaning: 'malformed JSON, a wrong field, parameter or header',
    action: 'correct what `details` names',
    causes: [
      '`details` names each field, parameter or header that is wrong by its path, and says in words what is expected there.',
      'The JSON is cut off or has a comma too many: send what a JSON library writes.',
      'A header that must be single came twice, as some proxies do.',
    ],
    example: {
      error: 'sm_session_id: is missing',
      details: [{ path: 'sm_session_id', message: 'is missing' }],
    },
    layer: 'body',
    explanation: 'The request was malformed: a field, a parameter or a header is wrong',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'unknown path',
    action: 'check the path against `/docs`',
    causes: [
      'The path has a spelling mistake, or a proxy adds or removes a part of it.',
      'What the path names was deleted.',
    ],
    example: { error: 'There is no /api/sessions; see /docs for all paths.' },
    layer: 'edge',
    explanation: 'There is nothing at this path',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'with `Allow`',
    action: 'use a method that `Allow` names',
    causes: ['GET and POST were mixed up; a redirect turns a POST into a GET, for example from `http` to `https`.'],
    example: { error: 'GET is not possible here; use POST, OPTIONS.' },
    layer: 'edge',
    explanation: ({ detail }) => `${detail.route} does not take this method`,
  },
  AMBIGUOUS: {
    status: 409,
    meaning: 'a ref that two sessions share',
    action: 'name the whole id',
    causes: ['A ref is the first 42 characters of an id, and two sessions begin with these.'],
    example: { error: 'Several sessions have this ref; name one by its whole id.' },
    layer: 'body',
    explanation: 'Several sessions share the ref that was named',
  },
  COUNT_CHANGED: {
    status: 409,
    meaning: 'more sessions match than were counted before; `matched` says how many',
    action: 'count again',
    causes: [
      'Sessions began between counting and ending them: send `dryRun` again, check the count, and send the new `expected`.',
    ],
    example: { error: '1431 sessions match now, and 1204 were expected; count them again with dryRun.', matched: 1431 },
    layer: 'body',
    explanation: 'More matched than had been counted, and nothing was ended; count again',
  },
  CONFLICT: {
    status: 409,
    meaning:
      'an id that is taken, one key more than its tenant may have, or a `batchId` of an act that somebody else began',
    action: 'choose another',
    causes: [
      'The tenant already has a key with this id, perhaps a revoked one: ids are never reused.',
      'The tenant has as many keys as it may have (`maxKeys`): revoke one first.',
      'The `batchId` does not belong to an act that the same operator began.',
      'There is no key to encrypt the secret with: set `SEALING_KEY`.',
    ],
    example: { error: 'The tenant acme has a widget key with the id "shop" already; choose another id.' },
    layer: 'body',
    explanation: ({ detail }) =>
      detail.fact === undefined ? 'What was to be made is there already' : `Nothing was changed: ${detail.fact}`,
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: 'a body of more than 64 KiB; an offer of more than 32 KiB',
    action: 'send less',
    causes: [
      '`instructions` or `tools` are too long: define the agent in the tenants file, and name it with `agentId`.',
      'An offer that holds more candidates or codecs than a call needs.',
    ],
    example: { error: 'A body may have at most 64 KiB.' },
    layer: 'body',
    explanation: ({ detail }) => `The body was larger than ${amount(detail.limit, 'KiB') ?? 'it may be'}`,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'another content type or charset, or a compressed body',
    action: 'send the content type that the request names, in UTF-8 and not compressed',
    causes: [
      '`Content-Type` is missing: `curl -d` alone sends a form. JSON needs `application/json`, an offer `application/sdp`.',
    ],
    example: { error: 'Send the body as Content-Type: application/json in UTF-8.' },
    layer: 'body',
    explanation: ({ detail }) => `${detail.route} takes another content type`,
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    meaning: 'an `Idempotency-Key` reused with another body',
    action: 'use a new key',
    causes: [
      'An `Idempotency-Key` stands for one request: draw a new one at random for each, and repeat it only with the same body.',
    ],
    example: { error: 'This Idempotency-Key came with another body before.' },
    layer: 'body',
    explanation: 'The Idempotency-Key was used before with another body',
  },
  QUERY_TOO_BROAD: {
    status: 422,
    meaning: 'more than one query of the operator API may read',
    action: 'ask for less',
    causes: ['Choose a shorter range or a filter, and follow `nextCursor` for more.'],
    example: { error: 'A range has at most 31 days here.' },
    layer: 'body',
    explanation: 'The query asked for more than is read at once; ask for a shorter time',
  },
} as const satisfies Record<string, ErrorRow>;
