import { repository } from '../../config/repository.ts';
import type { Route } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import { sendFile } from './files.ts';
import { guides } from './guides.ts';
import { pageRoute } from './page-route.ts';

const TEXT = ['Content-Type', 'text/plain; charset=utf-8'] as const;
const CACHED = ['Cache-Control', 'public, max-age=3600'] as const;

/** Files for crawlers: which pages may be indexed, what there is for language models, and the picture of shared links. */
export function crawlerRoutes({ core }: Pick<Services, 'core'>, webDirectory: URL): Route[] {
  const text = (body: string) => ({ status: 200, body: Buffer.from(body), headers: [TEXT, CACHED] });
  return [
    pageRoute('/robots.txt', () => text(ROBOTS)),
    pageRoute('/llms.txt', () => text(llms(core.publicUrl()))),
    pageRoute('/share.png', (call) => sendFile(call, new URL('share.png', webDirectory), [CACHED]), 'everybody'),
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
