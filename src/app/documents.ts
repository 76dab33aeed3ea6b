import { version } from '../../config/build-info.ts';
import { describeChannel } from '../channel/asyncapi.ts';
import { describeRoutes } from '../http/openapi.ts';
import type { Route } from '../http/route.ts';
import { describedRoutes } from '../http/routes/all.ts';
import { SOCKET_PATH, SUBPROTOCOL } from '../http/routes/socket.ts';
import type { Documents } from '../site/docs.ts';
import type { AsyncApi, OpenApi } from '../site/reference/document.ts';
import { undescribed } from '../site/reference/undescribed.ts';

/**
 * The OpenAPI and AsyncAPI documents. Each is made on first use and kept, because every page of the reference is written from both.
 *
 * @param publicUrl without a trailing slash; only known once the service can be reached
 */
export function documentsOf(routes: readonly Route[], publicUrl: () => string): Documents {
  let openapi: object | undefined;
  let asyncapi: object | undefined;
  return {
    openapi: () => (openapi ??= describeRoutes(routes, version, publicUrl())),
    asyncapi: () =>
      (asyncapi ??= describeChannel({ serverUrl: publicUrl(), path: SOCKET_PATH, subprotocol: SUBPROTOCOL }, version)),
  };
}

/** @throws a list of everything in these documents that has no description, so that a build fails */
export function requireDescriptions(): void {
  const { openapi, asyncapi } = documentsOf(describedRoutes(), () => 'http://127.0.0.1');
  const found = undescribed(openapi() as OpenApi, asyncapi() as AsyncApi);
  if (found.length > 0) throw new Error(`The interface description is incomplete:\n  ${found.join('\n  ')}`);
}
