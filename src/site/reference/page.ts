import { guidePath, guides } from '../guides.ts';
import { html, type Html } from '../html.ts';
import { channelEntry, channelsOf } from './channels.ts';
import {
  endpointsOf,
  type AsyncApi,
  type OpenApi,
  nameOf,
  resolve,
  type Schema,
  type Schemas,
  exampleOf,
  type Endpoint,
} from './document.ts';
import {
  errors,
  groupsOf,
  referencePages,
  referencePath,
  shapes,
  sockets,
  type ReferencePage,
  operationPath,
} from './groups.ts';
import { introduction, topics } from './introduction.ts';
import { codesEverywhere, methodMark, operationEntry, codesOf } from './operation.ts';
import type { ExampleKey } from './request.ts';
import { titleOf, codeBlock, json, paragraphs, sentence, prose } from './text.ts';
import { fieldList } from './fields.ts';
import { ERROR_CODES, type Code } from '../../protocol/errors/error-codes.ts';
import { Refusal } from '../../protocol/refusal.ts';

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
      ${guideList}${introduction(described.openapi, described.baseUrl)}${index}`,
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

/** The names of the shapes that fields refer to, in alphabetical order. Bodies and replies show their own fields in place. */
function linkedShapes(openapi: OpenApi): string[] {
  const { schemas } = openapi.components;
  const roots = endpointsOf(openapi).flatMap(({ operation: { requestBody, responses } }) =>
    [requestBody, ...Object.values(responses)].flatMap((body) => Object.values(body?.content ?? {})),
  );
  const found = new Set<string>();
  const follow = (schema: Schema): void => {
    if (schema.$ref === undefined) return partsOf(schema).forEach(follow);
    const name = nameOf(schema.$ref);
    if (found.has(name)) return;
    found.add(name);
    partsOf(schemas[name] ?? {}).forEach(follow);
  };
  for (const { schema } of roots)
    for (const choice of schema.anyOf ?? schema.oneOf ?? [schema]) partsOf(resolve(choice, schemas)).forEach(follow);
  return [...found].toSorted();
}

function partsOf({ properties = {}, items, anyOf = [], oneOf = [], additionalProperties }: Schema): Schema[] {
  const others = [items, additionalProperties].filter((part) => typeof part === 'object');
  return [...Object.values(properties), ...anyOf, ...oneOf, ...others];
}

/** The entry of a shape: its fields, and an example. */
function shapeEntry(name: string, schemas: Schemas): Html {
  const { [name]: schema = {} } = schemas;
  return html`<article class="entry" id="${name}">
    <div class="told">
      <h2>
        <a href="#${name}"><code>${name}</code></a>
      </h2>
      ${schema.description !== undefined && paragraphs(sentence(schema.description))}${fieldList(schema, schemas, 'received')}
    </div>
    <div class="shown">${codeBlock('Example', json(exampleOf(schema, schemas)))}</div>
  </article> `;
}

const codes = (Object.keys(ERROR_CODES) as Code[]).toSorted(
  (one, other) => ERROR_CODES[one].status - ERROR_CODES[other].status,
);

/** The entry of a code: when it is returned, why that happens, what to do, and which operations return it. */
function errorEntry(code: Code, endpoints: readonly Endpoint[]): Html {
  const { status, meaning, action, causes, example } = ERROR_CODES[code];
  const from = endpoints.filter(({ operation }) => codesOf(operation).includes(code));
  const { error, ...additions } = example;
  const userMessage = new Refusal(code, error, additions).wordsIn('en');
  return html`<article class="entry" id="${code}">
    <div class="told">
      <h2>
        <a href="#${code}"><code>${code}</code></a> <span class="type">${status}</span>
      </h2>
      <p class="summary">${prose(sentence(meaning))}</p>
      <h3>What to do</h3>
      <p>${prose(sentence(action))}</p>
      <h3>Why it happens</h3>
      <ul class="causes">
        ${causes.map((cause) => html`<li>${prose(cause)}</li>`)}
      </ul>
      ${answeredBy(from, endpoints.length)}
    </div>
    <div class="shown">${codeBlock(`Reply ${status}`, json({ error, code, userMessage, ...additions }))}</div>
  </article> `;
}

/** Which operations return a code; where all do, they are not listed. */
function answeredBy(from: readonly Endpoint[], all: number): Html | undefined {
  if (from.length === 0) return undefined;
  if (from.length === all) return html`<p>Every operation may answer with it.</p>`;
  const links = from.map(
    (endpoint) => html`<li><a href="${operationPath(endpoint)}">${titleOf(endpoint.operation.operationId)}</a></li>`,
  );
  return html`<details class="reply">
    <summary>${from.length === 1 ? 'One operation answers' : `${from.length} operations answer`} with it</summary>
    <ul class="codes">
      ${links}
    </ul>
  </details>`;
}
