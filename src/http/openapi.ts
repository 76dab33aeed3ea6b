import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { codes, type Code } from '../kernel/errors.ts';
import type { Route } from './route.ts';
import { errorBody } from './schemas.ts';

const bodyCodes: readonly Code[] = ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/** The OpenAPI 3.1 document of a route table: what is served is what is described. */
export function describeRoutes(routes: readonly Route[], version: string, serverUrl: string): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes.filter(({ tag }) => tag !== 'hidden'))
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Switchboard',
      version,
      description: 'A session broker for real-time voice agents',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      securitySchemes: {
        cookie: { type: 'apiKey', in: 'cookie', name: 'tenant_session' },
        service: { type: 'http', scheme: 'bearer' },
      },
    },
  });
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const params = [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next?: string) => next?.toUpperCase() ?? '')}`,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    ...(route.credentials === undefined ? {} : { security: route.credentials.map((name) => ({ [name]: [] })) }),
    requestParams: {
      ...(params.length === 0 ? {} : { path: z.object(Object.fromEntries(params.map((name) => [name, z.string()]))) }),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...(route.headers === undefined ? {} : { header: route.headers }),
    },
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyIsOptional !== true,
            content: { 'application/json': { schema: route.body } },
          },
        }),
    responses: responsesOf(route),
  };
}

function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const responses: ZodOpenApiResponsesObject = {};
  for (const [status, { description, schema, contentType }] of Object.entries(route.replies)) {
    const type = contentType ?? 'application/json';
    responses[status as '200'] = { description, content: { [type]: { schema: schema ?? z.string() } } };
  }
  const refusals = new Set<Code>([
    ...route.refusals,
    ...(route.body === undefined ? [] : bodyCodes),
    ...(route.limited ? (['INVALID_REQUEST', 'RATE_LIMIT_EXCEEDED'] as const) : []),
    'INTERNAL_ERROR',
  ]);
  for (const status of new Set([...refusals].map((code) => codes[code].status))) {
    const here = [...refusals].filter((code) => codes[code].status === status);
    const key = String(status) as '400';
    const schema = errorBody.omit({ code: true }).extend({ code: z.enum(here) });
    const known = responses[key];
    responses[key] =
      known === undefined
        ? { description: here.join(', '), content: { 'application/json': { schema } } }
        : {
            description: `${known.description}; ${here.join(', ')}`,
            content: { 'application/json': { schema: z.union([contentSchema(route, status), schema]) } },
          };
  }
  return responses;
}

function contentSchema(route: Route, status: number): z.ZodType {
  return route.replies[status]?.schema ?? z.string();
}
