import { isLoopback } from '../../../config/origins.ts';
import { escapeHtml } from '../../kernel/text.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Eventually } from '../../kernel/eventually.ts';
import type { KeptMail } from '../../mail/contract.ts';
import { isLocal } from '../local.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { pagePolicy, sendDocument, sendFile } from '../static-files.ts';
import { consoleRoutes } from './console.ts';
import { demoRoutes, type DemoDeps } from './demo.ts';

export interface PageDeps {
  /** Makes the OpenAPI document. */
  readonly openapi: () => object;
  /** Makes the AsyncAPI document. */
  readonly asyncapi: () => object;
  /** Where the build put what browsers get. */
  readonly webDirectory: URL;
  /** The development mailbox; undefined where mail is sent for real. */
  readonly outbox: { list(): readonly KeptMail[] } | undefined;
  readonly demo: DemoDeps;
}

const TAG = 'hidden';
const html = ['Content-Type', 'text/html; charset=utf-8'] as const;
const noStore = ['Cache-Control', 'no-store'] as const;

/** The API reference, the demo with the widget SDK, the operator console, and in development the mailbox. */
export function pageRoutes({ openapi, asyncapi, webDirectory, outbox, demo }: PageDeps): Route[] {
  const page = (path: string, handle: (call: Call) => Eventually<Result>): Route =>
    defineRoute({ method: 'GET', path, summary: path, tag: TAG, access: 'public', replies: {}, refusals: [], handle });
  const file = (path: string, name: string): Route => page(path, (call) => sendFile(call, new URL(name, webDirectory)));

  return [
    page('/openapi.json', sendDocument(openapi)),
    page('/asyncapi.json', sendDocument(asyncapi)),
    ...['/docs', '/docs/'].map((path) => file(path, 'docs/index.html')),
    ...['swagger-ui.css', 'docs.css', 'swagger-ui-bundle.js', 'init.js'].map((name) =>
      file(`/docs/${name}`, `docs/${name}`),
    ),
    ...demoRoutes(demo, webDirectory),
    ...consoleRoutes(webDirectory),
    ...(outbox === undefined
      ? []
      : [
          file('/dev/mail.css', 'dev/mail.css'),
          page('/dev/mail', (call) =>
            isLoopback(demo.publicUrl()) && isLocal(call) ? mailbox(outbox.list()) : notLocal(),
          ),
        ]),
  ];
}

function notLocal(): Refusal {
  return new Refusal(
    'FORBIDDEN',
    'The development mailbox opens only on the machine itself, at http://localhost; codes are also on its terminal.',
  );
}

function mailbox(mails: readonly KeptMail[]): Result {
  const articles = mails.map(
    ({ to, subject, text, sentAtMs }) =>
      `<article><h2>${escapeHtml(subject)}</h2><p>To ${escapeHtml(to)}, ${timeText(sentAtMs)}</p><pre>${escapeHtml(text.trim())}</pre></article>`,
  );
  const none = '<p class="empty">No mail yet. Ask for a login code, then reload this page.</p>';
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Development mailbox</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/dev/mail.css"></head><body><main><h1>Development mailbox</h1><p>No mail leaves this machine while SMTP_URL is not set. The last 50 mails, newest first.</p>${articles.join('') || none}</main></body></html>`;
  return { status: 200, body, headers: [html, noStore, pagePolicy] };
}

function timeText(atMs: number): string {
  const instant = new Date(atMs).toISOString();
  return `<time datetime="${instant}">${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC</time>`;
}
