import type { AsyncApi, OpenApi } from './reference/document.ts';
import type { ExampleKey } from './reference/request.ts';
import type { Call, Route } from '../http/route.ts';
import { sendLongPage } from './files.ts';
import { findDemo, type DemoServices } from './demo.ts';
import { assetRoute, pageRoute } from './page-route.ts';
import { shareTags } from './share.ts';

/** Makes the documents that describe the service: OpenAPI and AsyncAPI. */
export interface Documents {
  readonly openapi: () => object;
  readonly asyncapi: () => object;
}

/** The API reference: what is served is what is described, so that the service writes it itself, when it is first asked for. */
export function docsRoutes(services: DemoServices, { openapi, asyncapi }: Documents, webDirectory: URL): Route[] {
  // The examples work as they stand where there is a key that everybody knows.
  const keyFor = ({ request }: Call): ExampleKey | undefined => {
    const found = findDemo(services, request.headers['host']);
    return found && { widgetKey: found.key.key, agentId: found.agentId, origin: found.key.origin };
  };
  const page = sendLongPage(new URL('docs/index.html', webDirectory), keyFor, async (key) => {
    // Loaded with the first visit: most processes have none.
    const { writeReference } = await import('./reference/page.ts');
    const baseUrl = services.core.publicUrl();
    const share = shareTags(
      baseUrl,
      '/docs',
      'Switchboard API reference',
      'Every request, frame and error, with examples to copy.',
    );
    return {
      ...writeReference({ openapi: openapi() as OpenApi, asyncapi: asyncapi() as AsyncApi, baseUrl, key }),
      share,
    };
  });
  return [...['/docs', '/docs/'].map((path) => pageRoute(path, page)), assetRoute('docs', webDirectory)];
}
