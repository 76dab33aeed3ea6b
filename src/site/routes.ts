import { sendDocument } from '../http/documents.ts';
import type { Call, Result, Route } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import type { Eventually } from '../kernel/async.ts';
import { demoRoutes, type DemoServices } from './demo.ts';
import { docsRoutes, type Documents } from './docs.ts';
import { sendFile, assetRoute, pageRoute, webFile } from './files.ts';
import { homeRoutes } from './home.ts';
import { mailboxRoute } from './mailbox.ts';
import { repository } from '../../config/build-info.ts';
import { guides } from './guides.ts';

/**
 * What people look at: the first page, the API reference, the demo with the widget SDK, the console, and in development the mailbox; and
 * files for crawlers.
 */
export function siteRoutes(services: DemoServices & Pick<Services, 'readiness'>, documents: Documents): Route[] {
  const { mailbox, publicUrl } = services.core;
  return [
    pageRoute('/openapi.json', sendDocument(documents.openapi)),
    pageRoute('/asyncapi.json', sendDocument(documents.asyncapi)),
    ...docsRoutes(services, documents),
    ...homeRoutes(services),
    ...crawlerRoutes(services),
    ...demoRoutes(services),
    ...consoleRoutes(),
    ...(mailbox === undefined ? [] : [mailboxRoute(mailbox, publicUrl)]),
  ];
}

/** The operator console. The page holds no secret: all its data comes from the operator API. */
function consoleRoutes(): Route[] {
  const page = (call: Call): Eventually<Result> => sendFile(call, webFile('console/index.html'));

  return [
    assetRoute('console'),
    // The page itself reads the view to show from its address.
    ...['/console', '/console/', '/console/{view*}'].map((path) => pageRoute(path, page)),
  ];
}

const TEXT = ['Content-Type', 'text/plain; charset=utf-8'] as const;
const CACHED = ['Cache-Control', 'public, max-age=3600'] as const;

/** Files for crawlers: which pages may be indexed, what there is for language models, and the picture of shared links. */
function crawlerRoutes({ core }: Pick<Services, 'core'>): Route[] {
  const text = (body: string) => ({ status: 200, body: Buffer.from(body), headers: [TEXT, CACHED] });
  return [
    pageRoute('/robots.txt', () => text(ROBOTS)),
    pageRoute('/llms.txt', () => text(llms(core.publicUrl()))),
    pageRoute('/share.png', (call) => sendFile(call, webFile('share.png'), [CACHED]), 'everybody'),
  ];
}

/** RFC 9309. It protects no secrets; it only keeps operators' pages out of search results. */
const ROBOTS = `User-agent: *
Disallow: /api/
Disallow: /console
Disallow: /dev/
Disallow: /v1/
Disallow: /demo/take-over
`;

/** In the form of https://llmstxt.org. */
function llms(publicUrl: string): string {
  const sources = repository === undefined ? '' : `- [Sources](${repository}): code, guides, changelog\n`;
  const listed = guides.map(({ name, title, about }) => `- [${title}](${publicUrl}/docs/${name}): ${about}\n`).join('');
  return `# Switchboard

> A session broker for real-time voice agents. It opens calls with the provider's key, which no browser sees, keeps each session alive by
> heartbeats, ends it at its limits, and counts tokens and dollars per user and day.

A page needs one tag, <switchboard-widget>, or the browser SDK. Back ends and other clients use the HTTP API and a WebSocket. Errors are
JSON with a code and a sentence that says what to do.

## Reference

- [OpenAPI 3.1](${publicUrl}/openapi.json): every request, its fields and errors
- [AsyncAPI 3.0](${publicUrl}/asyncapi.json): the frames of the sockets
- [Documentation](${publicUrl}/docs): the same for people, with examples in curl, JavaScript and Python, and the guides
- [Types of the browser SDK](${publicUrl}/widget.d.mts): methods, events and errors
- [Types of the element](${publicUrl}/switchboard-widget.d.mts): attributes and events
${sources}
## Guides

${listed}`;
}
