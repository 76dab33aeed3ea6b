import { html, type Html } from '../html.ts';
import { codeBlock, json } from './code.ts';
import { endpointsOf, nameOf, resolve, type OpenApi, type Schema, type Schemas } from './document.ts';
import { exampleOf } from './example-of.ts';
import { fieldList } from './fields.ts';
import { paragraphs, sentence } from './words.ts';

/** The names of the shapes that fields refer to, in alphabetical order. Bodies and replies show their own fields in place. */
export function linkedShapes(openapi: OpenApi): string[] {
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
export function shapeEntry(name: string, schemas: Schemas): Html {
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
