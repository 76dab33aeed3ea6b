import { guideContents } from '../guides.ts';
import { html, type Html } from '../html.ts';
import { channelEntry, channelsOf } from './channels.ts';
import { endpointsOf, type AsyncApi, type OpenApi } from './document.ts';
import { codes, errorEntry } from './errors.ts';
import { groups, type Group } from './groups.ts';
import { guide, topics } from './guide.ts';
import { codesEverywhere, methodMark, operationEntry } from './operation.ts';
import type { ExampleKey } from './request.ts';
import { linkedShapes, shapeEntry } from './shapes.ts';
import { titleOf } from './words.ts';

export interface Described {
  readonly openapi: OpenApi;
  readonly asyncapi: AsyncApi;
  /** Where the examples send their requests, without a trailing slash. */
  readonly baseUrl: string;
  readonly key?: ExampleKey | undefined;
}

interface Section extends Omit<Group, 'tag'> {
  readonly links: readonly Html[];
  readonly entries: readonly Html[];
}

/** The API reference as two pieces of a page: the list of what is in it, and all of it. It needs no script to be read. */
export function writeReference(described: Described): { readonly contents: Html; readonly entries: Html } {
  const sections = [
    ...operationSections(described),
    socketSection(described),
    shapeSection(described),
    errorSection(described),
  ];
  const first = html`<li><a href="#introduction">Introduction</a></li>
    ${topics.map(([id, title]) => link(id, html`${title}`))}`;
  return {
    contents: html`${guideContents()}
      <section>
        <h2>Start</h2>
        <ul>
          ${first}
        </ul>
      </section>
      ${sections.map(
        ({ id, title, links }) =>
          html`<section>
            <h2><a href="#${id}">${title}</a></h2>
            <ul>
              ${links}
            </ul>
          </section> `,
      )}`,
    entries: html`${guide(described.openapi, described.baseUrl)}${sections.map(
      ({ id, title, about, entries }) =>
        html`<section class="group" aria-labelledby="${id}">
          <header>
            <h2 id="${id}">${title}</h2>
            <p>${about}</p>
          </header>
          ${entries}
        </section> `,
    )}`,
  };
}

function link(id: string, title: Html): Html {
  return html`<li><a href="#${id}">${title}</a></li>`;
}

function operationSections({ openapi, baseUrl, key }: Described): Section[] {
  const { schemas } = openapi.components;
  const everywhere = codesEverywhere(endpointsOf(openapi).map(({ operation }) => operation));
  return groups.map(({ tag, ...group }) => {
    const members = endpointsOf(openapi).filter(({ operation }) => operation.tags.includes(tag));
    return {
      ...group,
      links: members.map(({ method, operation: { operationId } }) =>
        link(operationId, html`${titleOf(operationId)} ${methodMark(method)}`),
      ),
      entries: members.map((endpoint) => operationEntry(endpoint, { schemas, baseUrl, key, everywhere })),
    };
  });
}

function socketSection({ asyncapi }: Described): Section {
  const channels = channelsOf(asyncapi);
  return {
    id: 'sockets',
    title: 'Sockets',
    about: 'The frames of the two WebSockets: one that holds a session, and one that tells operators what happens.',
    links: channels.flatMap(({ id, title, frames }) => [
      link(id, html`${title}`),
      ...frames.map((frame) =>
        link(
          frame.id,
          html`<code>${frame.type}</code>
            <span class="method ws">${frame.direction === 'sent' ? 'send' : 'get'}</span>`,
        ),
      ),
    ]),
    entries: channels.map(channelEntry),
  };
}

function shapeSection({ openapi }: Described): Section {
  const names = linkedShapes(openapi);
  return {
    id: 'shapes',
    title: 'Shapes',
    about: 'Objects that stand in several replies; generated clients have a type of each of these names.',
    links: names.map((name) => link(name, html`<code>${name}</code>`)),
    entries: names.map((name) => shapeEntry(name, openapi.components.schemas)),
  };
}

function errorSection({ openapi }: Described): Section {
  const endpoints = endpointsOf(openapi);
  return {
    id: 'errors',
    title: 'Error codes',
    about: 'Every code that a client can receive, why, and what to do.',
    links: codes.map((code) => link(code, html`<code>${code}</code>`)),
    entries: codes.map((code) => errorEntry(code, endpoints)),
  };
}
