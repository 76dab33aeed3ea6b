import { readFile } from 'node:fs/promises';
import type { AsyncApi, OpenApi } from './reference/document.ts';
import type { ExampleKey } from './reference/request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { guideContents, guides, type Guide } from './guides.ts';
import { searchParts } from './search-parts.ts';
import { sendLongPage } from './files.ts';
import { sendDocument } from '../http/documents.ts';
import type { Eventually } from '../kernel/eventually.ts';
import { findDemo, type DemoServices } from './demo.ts';
import { assetRoute, pageRoute } from './page-route.ts';
import { shareTags } from './share.ts';

/** Makes the documents that describe the service: OpenAPI and AsyncAPI. */
export interface Documents {
  readonly openapi: () => object;
  readonly asyncapi: () => object;
}

/**
 * The documentation: guides, which the build made, and the API reference. What is served is what that describes, so that the service writes it
 * itself, when it is first asked for.
 */
export function docsRoutes(services: DemoServices, documents: Documents, webDirectory: URL): Route[] {
  const baseUrl = services.core.publicUrl;
  const write = async (key?: ExampleKey) => {
    // Loaded with the first visit: most processes have none.
    const { writeReference } = await import('./reference/page.ts');
    const [openapi, asyncapi] = [documents.openapi() as OpenApi, documents.asyncapi() as AsyncApi];
    return writeReference({ openapi, asyncapi, baseUrl: baseUrl(), key });
  };
  // The examples work as they stand where there is a key that everybody knows.
  const keyFor = ({ request }: Call): ExampleKey | undefined => {
    const found = findDemo(services, request.headers['host']);
    return found && { widgetKey: found.key.key, agentId: found.agentId, origin: found.key.origin };
  };
  const about = 'Every request, frame and error, with examples to copy.';
  const page = sendLongPage(new URL('docs/index.html', webDirectory), keyFor, async (key) => ({
    ...(await write(key)),
    share: shareTags(baseUrl(), '/docs', REFERENCE, about),
  }));
  const guideFile = ({ name }: Guide): URL => new URL(`docs/guides/${name}.html`, webDirectory);
  return [
    ...['/docs', '/docs/'].map((path) => pageRoute(path, page)),
    ...guides.map((guide) => pageRoute(`/docs/${guide.name}`, sendGuide(guide, guideFile(guide), baseUrl))),
    pageRoute(
      '/docs/search.json',
      sendOnceMade(async () => {
        const written = await Promise.all(
          guides.map(async (guide) => [guide, await readFile(guideFile(guide), 'utf8')] as const),
        );
        return [
          ...written.flatMap(([{ name, title }, text]) => searchParts(`/docs/${name}`, title, text)),
          ...searchParts('/docs', 'API reference', (await write()).entries.text),
        ];
      }),
    ),
    assetRoute('docs', webDirectory),
  ];
}

const REFERENCE = 'Switchboard API reference';

function sendGuide({ name, title, about }: Guide, file: URL, publicUrl: () => string) {
  return sendLongPage(file, publicUrl, (baseUrl) => ({
    documentation: guideContents(name),
    share: shareTags(baseUrl, `/docs/${name}`, `Switchboard: ${title}`, about),
  }));
}

/** Sends a JSON document that takes its time to be made, and is made once. */
function sendOnceMade(make: () => Promise<object>): (call: Call) => Promise<Answer> {
  let made: Promise<(call: Call) => Eventually<Answer>> | undefined;
  return async (call) => {
    made ??= make().then((found) => sendDocument(() => found));
    try {
      return await (
        await made
      )(call);
    } catch (fault) {
      made = undefined;
      throw fault;
    }
  };
}
