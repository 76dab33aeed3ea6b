import { guidePath, guides } from '../guides.ts';
import { html, type Html } from '../html.ts';
import { channelEntry, channelsOf } from './channels.ts';
import { endpointsOf, type AsyncApi, type OpenApi } from './document.ts';
import { codes, errorEntry } from './errors.ts';
import { errors, groupsOf, referencePages, referencePath, shapes, sockets, type ReferencePage } from './groups.ts';
import { guide, topics } from './guide.ts';
import { codesEverywhere, methodMark, operationEntry } from './operation.ts';
import type { ExampleKey } from './request.ts';
import { linkedShapes, shapeEntry } from './shapes.ts';
import { titleOf } from './words.ts';

export interface Described {
  readonly openapi: OpenApi;
  readonly asyncapi: AsyncApi;
  /** The address that the examples send their requests to, without a trailing slash. */
  readonly baseUrl: string;
  readonly key?: ExampleKey | undefined;
}

/** A page of the reference as HTML: its table of contents and its text. It needs no script to be read. */
export interface WrittenPage {
  readonly parts: Html;
  readonly text: Html;
}

/** An entry in a table of contents. */
interface Listed {
  readonly id: string;
  readonly label: Html;
}

interface Section {
  readonly listed: readonly Listed[];
  /** A function, because writing the entries takes time. */
  readonly entries: () => readonly Html[];
}

/** The first page: the guides, what applies to every request, and links to the entries of all operations, frames, shapes and codes. */
export function writeStart(described: Described): WrittenPage {
  const index = referencePages.map((page) => {
    const lines = sectionOf(page, described).listed.map(
      ({ id, label }) => html`<li id="${id}"><a href="${referencePath(page, id)}">${label}</a></li>`,
    );
    return html`<section class="index" aria-labelledby="${page.id}">
      <h2 id="${page.id}"><a href="${referencePath(page)}">${page.title}</a></h2>
      <p>${page.about}</p>
      <ul>
        ${lines}
      </ul>
    </section> `;
  });
  return {
    parts: html`${[['introduction', 'Introduction'], ...topics].map(([id = '', title]) => link({ id, label: html`${title}` }))}`,
    text: html`<header class="group"><h1>Documentation</h1></header>
      ${guideList}${guide(described.openapi, described.baseUrl)}${index}`,
  };
}

const guideList = html`<section class="index guides" aria-labelledby="guides">
  <h2 id="guides">Guides</h2>
  <ul>
    ${guides.map(
      (each) =>
        html`<li>
          <a href="${guidePath(each)}"><strong>${each.title}</strong> <small>${each.about}</small></a>
        </li>`,
    )}
  </ul>
</section>`;

/** The entries of one page. */
export function writeReference(page: ReferencePage, described: Described): WrittenPage {
  const { listed, entries } = sectionOf(page, described);
  return {
    parts: html`${listed.map(link)}`,
    text: html`<header class="group">
        <h1>${page.title}</h1>
        <p>${page.about}</p>
      </header>
      ${entries()}`,
  };
}

function link({ id, label }: Listed): Html {
  return html`<li><a href="#${id}">${label}</a></li>`;
}

function sectionOf({ id }: ReferencePage, described: Described): Section {
  if (id === sockets.id) return socketSection(described);
  if (id === shapes.id) return shapeSection(described);
  return id === errors.id ? errorSection(described) : operationSection(id, described);
}

function operationSection(id: string, { openapi, baseUrl, key }: Described): Section {
  const all = endpointsOf(openapi);
  const members = all.filter((endpoint) => groupsOf(endpoint).some((group) => group.id === id));
  return {
    listed: members.map(({ method, operation: { operationId } }) => ({
      id: operationId,
      label: html`${titleOf(operationId)} ${methodMark(method)}`,
    })),
    entries: () => {
      const everywhere = codesEverywhere(all.map(({ operation }) => operation));
      const context = { schemas: openapi.components.schemas, baseUrl, key, everywhere };
      return members.map((endpoint) => operationEntry(endpoint, context));
    },
  };
}

function socketSection({ asyncapi }: Described): Section {
  const channels = channelsOf(asyncapi);
  return {
    listed: channels.flatMap(({ id, title, frames }) => [
      { id, label: html`${title}` },
      ...frames.map((frame) => ({
        id: frame.id,
        label: html`<code>${frame.type}</code>
          <span class="method ws">${frame.direction === 'sent' ? 'send' : 'get'}</span>`,
      })),
    ]),
    entries: () => channels.map(channelEntry),
  };
}

function shapeSection({ openapi }: Described): Section {
  const names = linkedShapes(openapi);
  return {
    listed: names.map(inCode),
    entries: () => names.map((name) => shapeEntry(name, openapi.components.schemas)),
  };
}

function errorSection({ openapi }: Described): Section {
  return {
    listed: codes.map(inCode),
    entries: () => codes.map((code) => errorEntry(code, endpointsOf(openapi))),
  };
}

const inCode = (id: string): Listed => ({ id, label: html`<code>${id}</code>` });
