import { html, type Html } from '../html.ts';
import { ERROR_CODES, type Code } from '../../protocol/errors/error-codes.ts';
import { codeBlock, json, paragraphs, prose, sentence, titleOf } from './text.ts';
import { contentOf, type Endpoint, type Operation, type Schemas } from './document.ts';
import { examplesOf } from './examples.ts';
import { fieldList, parameterList } from './fields.ts';
import { errors as errorPage, referencePath } from './groups.ts';
import { requestOf, type ExampleKey } from './request.ts';

export interface OperationContext {
  readonly schemas: Schemas;
  readonly baseUrl: string;
  readonly key: ExampleKey | undefined;
  /** Codes that every operation may return; the introduction lists them. */
  readonly everywhere: readonly Code[];
}

/** The entry of an operation: what it does, its input, its replies and its errors, with examples beside it. */
export function operationEntry(endpoint: Endpoint, context: OperationContext): Html {
  const { method, path, operation } = endpoint;
  const { operationId, summary, description } = operation;
  const examples = examplesOf(operationId, requestOf(endpoint, context.baseUrl, context.key), context.baseUrl);
  return html`<article class="entry" id="${operationId}">
    <div class="told">
      <h2><a href="#${operationId}">${titleOf(operationId)}</a></h2>
      <p class="path" ${mayBeTried(endpoint) && html` data-try`}>${methodMark(method)} <code>${path}</code></p>
      <p class="summary">${prose(sentence(summary))}</p>
      ${description !== summary && paragraphs(description)} ${credentials(operation)}
      ${parameters(operation, context.schemas)}${body(operation, context.schemas)}${goodReplies(operation, context.schemas)}${errors(operation, context.everywhere)}
    </div>
    <div class="shown">
      ${examples.map(({ kind, title, code }) => codeBlock(title, code, kind))}${replyExamples(operation)}
    </div>
  </article> `;
}

/** Whether the page offers to try it: it must change nothing, open no socket, and need no more credentials than a browser has. */
function mayBeTried({ method, operation: { responses, security } }: Endpoint): boolean {
  return (
    method === 'GET' && !('101' in responses) && security.some((one) => 'cookie' in one || !Object.keys(one).length)
  );
}

export function methodMark(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

const credentialNames: Readonly<Record<string, string>> = {
  cookie: 'a console login',
  service: 'a service token',
  ticket: 'a ticket, as a bearer token',
};

function credentials({ security, requestBody }: Operation): Html {
  const names = security.map((one) => Object.keys(one)[0]);
  const nothing = requestBody === undefined ? 'nothing' : 'what the body holds';
  const all = names.map((name) => (name === undefined ? nothing : (credentialNames[name] ?? name)));
  return html`<p class="proof"><a href="/docs#authentication">Needs</a> ${all.join(', or ')}.</p>`;
}

const places = { path: 'In the path', query: 'In the query', header: 'Headers' } as const;

function parameters({ parameters: all = [] }: Operation, schemas: Schemas): Html[] {
  return (['path', 'query', 'header'] as const).flatMap((place) => {
    const here = all.filter((parameter) => parameter.in === place);
    return here.length === 0
      ? []
      : [
          html`<h3>${places[place]}</h3>
            ${parameterList(here, schemas)}`,
        ];
  });
}

function body({ requestBody }: Operation, schemas: Schemas): Html | undefined {
  const content = contentOf(requestBody);
  if (content === undefined) return undefined;
  return html`<h3>Body <span class="type">${content.type}</span></h3>
    ${fieldList(content.schema, schemas, 'sent') ?? html`<p>A text as it is.</p>`}`;
}

function repliesOf({ responses }: Operation) {
  return Object.entries(responses).flatMap(([status, { description, content }]) => {
    const found = contentOf({ content: content ?? {} });
    const example = found?.example ?? found?.examples?.['reply']?.value;
    const isGood = status < '400' || example !== undefined;
    return isGood ? [{ status, description: description.split('; ')[0] ?? '', found, example }] : [];
  });
}

function goodReplies(operation: Operation, schemas: Schemas): Html[] {
  return repliesOf(operation).map(({ status, description, found }) => {
    const fields = found && fieldList(found.schema, schemas, 'received');
    return html`<h3>${status} <span class="type">${found?.type}</span></h3>
      <p>${prose(sentence(description))}</p>
      ${
        fields &&
        html`<details class="reply">
          <summary>Fields of the reply</summary>
          ${fields}
        </details>`
      }`;
  });
}

function replyExamples(operation: Operation): Html[] {
  return repliesOf(operation).flatMap(({ status, example }) =>
    example === undefined ? [] : [codeBlock(`Reply ${status}`, typeof example === 'string' ? example : json(example))],
  );
}

export function codesOf({ responses }: Operation): Code[] {
  const named = Object.values(responses).flatMap(({ content }) =>
    Object.keys(contentOf({ content: content ?? {} })?.examples ?? {}),
  );
  return [...new Set(named)].filter((name): name is Code => name in ERROR_CODES);
}

/** The codes that all operations have in common. */
export function codesEverywhere(operations: readonly Operation[]): Code[] {
  const [first, ...others] = operations.map(codesOf);
  return (first ?? []).filter((code) => others.every((codes) => codes.includes(code)));
}

function errors(operation: Operation, everywhere: readonly Code[]): Html | undefined {
  const own = codesOf(operation).filter((code) => !everywhere.includes(code));
  if (own.length === 0) return undefined;
  const items = own.map(
    (code) =>
      html`<li>
        <a href="${referencePath(errorPage, code)}">${ERROR_CODES[code].status} <code>${code}</code></a>
      </li>`,
  );
  return html`<h3>Errors</h3>
    <ul class="codes">
      ${items}
    </ul>`;
}
