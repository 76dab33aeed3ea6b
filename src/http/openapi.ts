import { z } from 'zod';
import {
  createDocument,
  type CreateDocumentOptions,
  type ZodOpenApiHeaderObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { ERROR_CODES, type Code } from '../protocol/errors/error-codes.ts';
import { errorBody } from '../protocol/errors/error-body.ts';
import { DEFAULT_LANGUAGE, LANGUAGES } from '../protocol/error-translations/languages.ts';
import { plainSchemas } from '../protocol/plain-schemas.ts';
import { Refusal } from '../protocol/refusal.ts';
import { namedSchemas } from './named-schemas.ts';
import type { Route } from './route.ts';
import { sample } from './samples.ts';
import { string } from '../protocol/fields.ts';

const tags = [
  { name: 'Voice sessions', description: 'Opening, keeping alive and ending one conversation.' },
  { name: 'Usage', description: 'Tokens and dollars that count against a user’s daily totals.' },
  {
    name: 'Vendor paths',
    description: 'The same requests for software written for a vendor, under the vendor’s own paths.',
  },
  { name: 'Console login', description: 'Logging administrators in with a code sent by e-mail.' },
  { name: 'Operators', description: 'Watching, controlling and ending sessions.' },
  { name: 'Operations', description: 'Health and metrics of the service.' },
];

/** Reply headers by name: what they mean, and an example. */
const replyHeaders = {
  'X-Request-Id': {
    description: 'The id under which the log explains the reply.',
    schema: { type: 'string' },
    example: sample.requestId,
  },
  'X-RateLimit-Limit': {
    description: 'Requests a minute that the tighter window allows.',
    schema: { type: 'integer', 'x-unit': 'count' },
    example: 60,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in this window.',
    schema: { type: 'integer', 'x-unit': 'count' },
    example: 59,
  },
  'X-RateLimit-Reset': {
    description: 'When the window ends, as a Unix timestamp in seconds.',
    schema: { type: 'integer', 'x-unit': 'Unix seconds' },
    example: 1_893_456_060,
  },
  Location: {
    description: 'The path of the new resource.',
    schema: { type: 'string' },
    example: '/api/realtime/calls/call_kX2vQ9mB4tYw7nLcR1sZ0A',
  },
  'Set-Cookie': {
    description:
      'The cookie `tenant_session`: `HttpOnly`, and `Secure` over https. `Max-Age=0` clears it. A login also sets a second cookie, named `tenant_device_` and a hash of the address, which identifies the browser when it asks for codes again.',
    schema: { type: 'string' },
    example: 'tenant_session=eyJhbGciOiJIUzI1NiJ9...; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax',
  },
  'Content-Language': {
    description: 'In error replies: the language of `userMessage`.',
    schema: { type: 'string', enum: [...LANGUAGES] },
    example: DEFAULT_LANGUAGE,
  },
  'Retry-After': {
    description: 'Seconds to wait; equal to `retryAfter` in the body.',
    schema: { type: 'integer', 'x-unit': 'seconds' },
    example: 30,
  },
} as const satisfies Record<string, ZodOpenApiHeaderObject>;

type ReplyHeader = keyof typeof replyHeaders;

const rateHeaders: readonly ReplyHeader[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** Codes that any request with a body may be refused with. */
const bodyCodes: readonly Code[] = ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** The OpenAPI 3.1 document of a route table, so that the description always matches what is served. @param serverUrl absolute, or `/` */
export function describeRoutes(routes: readonly Route[], version: string, serverUrl: string): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes.filter(({ tag }) => tag !== 'hidden'))
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Switchboard',
        version,
        description:
          'A session broker for real-time voice agents. Fields and codes may be added under these paths, but are never renamed or removed: ignore those that you do not know.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        contact: { name: 'Whoever runs this installation' },
      },
      servers: [{ url: serverUrl }],
      tags,
      paths,
      components: {
        securitySchemes: {
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'tenant_session',
            description:
              'A console login; set by /api/auth/otp/verify and renewed by any request that reads it, at most once a minute.',
          },
          ticket: {
            type: 'http',
            scheme: 'bearer',
            description: 'The client secret of a brokered session; it opens one call.',
          },
          widgetKey: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A widget key, sent from a page of its origin: the public key that is in the page’s tag anyway.',
          },
          webhook: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'A token that LiveKit signs with the secret of LIVEKIT_API_KEY for exactly this body.',
          },
          service: { type: 'http', scheme: 'bearer', description: 'One of SERVICE_TOKENS, for trusted back ends.' },
        },
        headers: replyHeaders,
        schemas: namedSchemas,
      },
    },
    open,
  );
  return plainSchemas(document);
}

/** Replies may gain fields, so their schemas allow unknown ones. */
const open: CreateDocumentOptions = {
  override({ jsonSchema, io }) {
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  },
};

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { operationId, summary, description, tag, credentials, params, query } = route;
  const headers = headersTaken(route);
  return {
    operationId: operationId ?? route.path,
    summary,
    description: description ?? summary,
    tags: [tag],
    security: credentials.map((name) => (name === 'none' ? {} : { [name]: [] })),
    requestParams: {
      ...(params === undefined ? {} : { path: params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { header: headers }),
    },
    ...requestBodyOf(route),
    responses: responsesOf(route),
  };
}

const acceptLanguage = z.object({
  'Accept-Language': string(
    `The language of \`userMessage\` in errors: one of ${LANGUAGES.join(', ')}`,
    'de-AT,de;q=0.9,en;q=0.5',
  ).optional(),
});

/** Request headers of a route. Accept-Language is left out where it has no effect: replies to operators are in English, and pages are fixed. */
function headersTaken({ access, headers }: Route): z.ZodObject | undefined {
  if (access === 'public' || access === 'operator') return headers;
  return headers === undefined ? acceptLanguage : headers.extend(acceptLanguage.shape);
}

function requestBodyOf({ body, bodyExample, text }: Route): Pick<ZodOpenApiOperationObject, 'requestBody'> {
  if (text !== undefined) {
    const content = { [text.contentType]: { schema: z.string(), example: text.example } };
    return { requestBody: { required: true, content } };
  }
  if (body === undefined) return {};
  const content = { 'application/json': { schema: body, example: bodyExample } };
  return { requestBody: { required: !body.safeParse(undefined).success, content } };
}

function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const responses: Record<string, ZodOpenApiResponseObject> = {};
  for (const [status, { description, schema, contentType, example }] of Object.entries(route.replies))
    responses[status] = {
      description,
      headers: headersOf(route, Number(status)),
      ...(schema === undefined && contentType === undefined
        ? {}
        : { content: { [contentType ?? 'application/json']: { schema: schema ?? z.string(), example } } }),
    };
  for (const [status, here] of byStatus(refusalsOf(route))) {
    responses[status] = withRefusals(route, status, here, responses[status]);
  }
  return responses;
}

function refusalsOf(route: Route): Set<Code> {
  return new Set<Code>([
    // For invalid bodies, queries and paths; otherwise for a header that must be single and came twice.
    'INVALID_REQUEST',
    ...route.refusals,
    ...(route.body === undefined && route.text === undefined ? [] : bodyCodes),
    ...(route.window !== 'none' ? (['RATE_LIMIT_EXCEEDED'] as const) : []),
    'INTERNAL_ERROR',
  ]);
}

function byStatus(refusals: ReadonlySet<Code>): Map<number, Code[]> {
  const groups = new Map<number, Code[]>();
  for (const code of refusals) {
    const { status } = ERROR_CODES[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

/** The errors of one status, each with an example, together with the successful reply of the same status if there is one. */
function withRefusals(
  route: Route,
  status: number,
  here: readonly Code[],
  known: ZodOpenApiResponseObject | undefined,
): ZodOpenApiResponseObject {
  const examples = Object.fromEntries(
    here.map((code) => {
      const example = route.refusalExamples?.[code] ?? exampleOf(code);
      return [code, { summary: example.wordsIn(DEFAULT_LANGUAGE), value: example.bodyIn(DEFAULT_LANGUAGE) }];
    }),
  );
  const good = route.replies[status];
  if (known === undefined || good === undefined)
    return {
      description: here.join(', '),
      headers: headersOf(route, status, ['Content-Language']),
      content: { 'application/json': { schema: errorBody, examples } },
    };
  return {
    ...known,
    headers: headersOf(route, status, ['Content-Language']),
    description: `${known.description}; ${here.join(', ')}`,
    content: {
      'application/json': {
        schema: z.union([good.schema ?? z.string(), errorBody]),
        examples: { ...(good.example === undefined ? {} : { reply: { value: good.example } }), ...examples },
      },
    },
  };
}

function exampleOf(code: Code): Refusal {
  const { error, ...additions } = ERROR_CODES[code].example;
  return new Refusal(code, error, additions);
}

function headersOf(route: Route, status: number, more: readonly ReplyHeader[] = []): Record<string, { $ref: string }> {
  const names: ReplyHeader[] = ['X-Request-Id', ...more];
  if (status === 201) names.push('Location');
  if (status === 200 && route.cookie === 'set') names.push('Set-Cookie');
  if (route.window !== 'none') names.push(...rateHeaders);
  if (status === 429 || status === 503) names.push('Retry-After');
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
