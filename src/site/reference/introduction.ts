import { html, type Html } from '../html.ts';
import { codeBlock, json, prose } from './text.ts';
import { endpointsOf, type OpenApi } from './document.ts';
import { errors, referencePath } from './groups.ts';
import { codesEverywhere } from './operation.ts';

export const topics = [
  ['authentication', 'Authentication'],
  ['error-bodies', 'Errors'],
  ['rate-limits', 'Rate limits'],
] as const;

/** What applies to every request. */
export function introduction(openapi: OpenApi, baseUrl: string): Html {
  const { info, components } = openapi;
  const { securitySchemes, headers } = components;
  const everywhere = codesEverywhere(endpointsOf(openapi).map(({ operation }) => operation)).map(
    (code) =>
      html`<li>
        <a href="${referencePath(errors, code)}"><code>${code}</code></a>
      </li>`,
  );
  const header = (name: string): Html =>
    html`<li>
      <div class="field"><code class="name">${name}</code></div>
      <p>${prose(headers[name]?.description ?? '')}</p>
    </li>`;
  const scheme = (name: string, title: string): Html =>
    html`<li>
      <div class="field"><span class="name">${title}</span></div>
      <p>${prose(securitySchemes[name]?.description ?? '')}</p>
    </li>`;
  return html`<article class="entry" id="introduction">
      <div class="told">
        <h2>Introduction</h2>
        <p class="summary">${prose(info.description)}</p>
        <p>
          JSON in UTF-8, both ways. The descriptions that this page is made of:
          <a href="/openapi.json">openapi.json</a> and <a href="/asyncapi.json">asyncapi.json</a>.
        </p>
      </div>
      <div class="shown">${codeBlock('Base address', baseUrl)}${codeBlock('Is it up?', `curl ${baseUrl}/healthz`)}</div>
    </article>
    <article class="entry" id="authentication">
      <div class="told">
        <h2><a href="#authentication">Authentication</a></h2>
        <p>
          A widget key needs no secret: it stands in the page, and works only from the origin that it is bound to.
          Whoever holds an <code>sm_session_id</code> may keep that session alive and end it.
        </p>
        <ul class="fields">
          ${scheme('cookie', 'Console login')}${scheme('service', 'Service token')}${scheme('ticket', 'Ticket')}
        </ul>
      </div>
      <div class="shown">
        ${codeBlock('With a service token', `curl ${baseUrl}/api/operator/me \\\n  -H "Authorization: Bearer $SWITCHBOARD_TOKEN"`)}
      </div>
    </article>
    <article class="entry" id="error-bodies">
      <div class="told">
        <h2><a href="#error-bodies">Errors</a></h2>
        <p>
          Every error has a <code>code</code> to decide by, an <code>error</code> for a developer, and a
          <code>userMessage</code> that can be shown as it is. <a href="${referencePath(errors)}">Each code</a> has an
          entry that says why and what to do. The log tells more under the id of the header <code>X-Request-Id</code>.
        </p>
        <p>Beside those of its entry, every request may be answered with:</p>
        <ul class="codes">
          ${everywhere}
        </ul>
      </div>
      <div class="shown">
        ${codeBlock('An error', json({ error: 'sm_session_id: is missing', code: 'INVALID_REQUEST', userMessage: 'Something in this request is not right. Please check it and try again.', details: [{ path: 'sm_session_id', message: 'is missing' }] }))}
      </div>
    </article>
    <article class="entry" id="rate-limits">
      <div class="told">
        <h2><a href="#rate-limits">Rate limits</a></h2>
        <p>Replies of the API say how many requests are left.</p>
        <ul class="fields">
          ${['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'].map(header)}
        </ul>
      </div>
      <div class="shown">
        ${codeBlock('Headers', 'X-RateLimit-Limit: 60\nX-RateLimit-Remaining: 59\nX-RateLimit-Reset: 1893456060')}
      </div>
    </article> `;
}
