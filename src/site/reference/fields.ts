import { html, type Html } from '../html.ts';
import { nameOf, resolve, type Parameter, type Schema, type Schemas } from './document.ts';
import { referencePath, shapes } from './groups.ts';
import { prose, sentence } from './text.ts';

/** Deeper than any shape goes; stops shapes that contain themselves. */
const MAX_DEPTH = 8;
/** Longer patterns are not shown, because they tell a reader nothing. */
const MAX_PATTERN = 48;

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Fields that readers send need an example each; fields that they receive have the whole reply beside them. */
export type Direction = 'sent' | 'received';

/**
 * The fields of a shape, each with its type, its limits and its description. Required fields come first, otherwise the order is the
 * shape's. Nested fields are folded, or link to the entry of a named shape.
 */
export function fieldList(schema: Schema, schemas: Schemas, direction: Direction, depth = 0): Html | undefined {
  const fields = fieldsOf(schema, schemas);
  if (fields.length === 0 || depth > MAX_DEPTH) return undefined;
  const base = direction === 'received' && depth <= 1 ? baseOf(fields, schemas) : undefined;
  if (base === undefined) return listOf(fields, schemas, direction, depth);
  const own = fields.filter(({ name }) => schemas[base]?.properties?.[name] === undefined);
  return html`<p>All fields of <a href="${referencePath(shapes, base)}">${base}</a>, and:</p>
    ${listOf(own, schemas, direction, depth)}`;
}

/** The largest named shape that these fields extend, so that only the added fields need to be listed. */
function baseOf(fields: readonly Field[], schemas: Schemas): string | undefined {
  const here = new Map(fields.map(({ name, schema }) => [name, JSON.stringify(schema)]));
  const sizes = Object.entries(schemas).map(([name, { properties = {} }]) => {
    const parts = Object.entries(properties);
    const isPart = parts.length < here.size && parts.every(([part, of]) => here.get(part) === JSON.stringify(of));
    return [name, isPart ? parts.length : 0] as const;
  });
  const [name, size] = sizes.toSorted(([, one], [, other]) => other - one)[0] ?? ['', 0];
  return size > 3 ? name : undefined;
}

/** The parameters of a request. Query parameters have their examples in the form for trying them: the page has room for one only. */
export function parameterList(parameters: readonly Parameter[], schemas: Schemas): Html {
  const fields = parameters.map(({ in: place, name, schema, required }) => ({
    name,
    schema: place === 'query' ? { ...schema, examples: [] } : schema,
    isRequired: required === true,
  }));
  return listOf(fields, schemas, 'sent', 0);
}

function listOf(fields: readonly Field[], schemas: Schemas, direction: Direction, depth: number): Html {
  const inOrder = fields.toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
  return html`<ul class="fields">
    ${inOrder.map((field) => fieldItem(field, schemas, direction, depth))}
  </ul>`;
}

function fieldItem({ name, schema, isRequired }: Field, schemas: Schemas, direction: Direction, depth: number): Html {
  const shape = shapeOf(schema);
  const inner = shape === undefined ? fieldList(schema, schemas, direction, depth + 1) : undefined;
  const whole = resolve(schema, schemas);
  const about = schema.description ?? whole.description;
  const limits = limitsOf(whole);
  return html`<li>
    <div class="field">
      <code class="name">${name}</code>
      <span class="type">${typeMark(typeOf(schema, schemas), shape)}</span
      >${presence(isRequired, direction)}${limits.length > 0 && html` <span class="limits">${limits.join(', ')}</span>`}
    </div>
    ${about !== undefined && html`<p>${prose(sentence(about))}${direction === 'sent' && exampleIn(whole)}</p>`}${
      inner &&
      html`<details>
        <summary>Fields of <code>${name}</code></summary>
        ${inner}
      </details>`
    }
  </li>`;
}

/** Senders need to know what is required, readers what may be absent. */
function presence(isRequired: boolean, direction: Direction): Html | undefined {
  if (isRequired !== (direction === 'sent')) return undefined;
  return isRequired ? html` <span class="required">required</span>` : html` <span class="limits">may be absent</span>`;
}

/** The named shape of a field, or of the items of its list or map. */
function shapeOf({ $ref, items, additionalProperties, anyOf = [] }: Schema): string | undefined {
  if ($ref !== undefined) return nameOf($ref);
  const [one] = anyOf;
  const inner = items ?? (typeof additionalProperties === 'object' ? additionalProperties : one);
  return inner === undefined ? undefined : shapeOf(inner);
}

function typeMark(type: string, shape: string | undefined): Html {
  const at = shape === undefined ? -1 : type.indexOf(shape);
  if (shape === undefined || at < 0) return html`${type}`;
  return html`${type.slice(0, at)}<a href="${referencePath(shapes, shape)}">${shape}</a
    >${type.slice(at + shape.length)}`;
}

/** A field whose values are listed needs no example. */
function exampleIn({ examples, enum: some, const: only }: Schema): Html | undefined {
  const [first] = examples ?? [];
  if (first === undefined || some !== undefined || only !== undefined) return undefined;
  return html` <span class="eg"><code>${typeof first === 'string' ? first : JSON.stringify(first)}</code></span>`;
}

/** The fields of an object, of the items of a list or a map, or of all alternatives. */
function fieldsOf(schema: Schema, schemas: Schemas, depth = 0): Field[] {
  const { properties, required = [], items, anyOf, oneOf, additionalProperties } = resolve(schema, schemas);
  if (depth > MAX_DEPTH) return [];
  if (properties !== undefined)
    return Object.entries(properties).map(([name, of]) => ({ name, schema: of, isRequired: required.includes(name) }));
  if (items !== undefined) return fieldsOf(items, schemas, depth + 1);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return unique(choices.flatMap((choice) => fieldsOf(choice, schemas, depth + 1)));
  return typeof additionalProperties === 'object' ? fieldsOf(additionalProperties, schemas, depth + 1) : [];
}

/** Fields that several alternatives share are described once. */
function unique(fields: readonly Field[]): Field[] {
  return fields.filter(({ name }, index) => fields.findIndex((other) => other.name === name) === index);
}

function typeOf(schema: Schema, schemas: Schemas): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  const whole = resolve(schema, schemas);
  const { type, items, anyOf, oneOf, format, additionalProperties } = whole;
  const choices = anyOf ?? oneOf;
  if (whole.const !== undefined) return JSON.stringify(whole.const);
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeOf(choice, schemas)))].join(' or ');
  if (items !== undefined) return `list of ${typeOf(items, schemas)}`;
  if (whole.enum !== undefined) return whole.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (format === 'date-time') return 'time';
  if (type === 'object' && whole.properties === undefined && typeof additionalProperties === 'object')
    return additionalProperties.type === undefined ? 'object' : `map of ${typeOf(additionalProperties, schemas)}`;
  return type === undefined ? 'anything' : [type].flat().join(' or ');
}

function limitsOf({
  type,
  minLength,
  maxLength,
  minimum,
  maximum,
  maxItems,
  pattern,
  format,
  ...of
}: Schema): string[] {
  const isShort = pattern !== undefined && pattern.length <= MAX_PATTERN && format === undefined;
  return [
    between(type === 'string' ? minLength : undefined, maxLength, ' characters'),
    between(minimum, maximum, ''),
    between(undefined, maxItems, ' entries'),
    isShort ? `as ${pattern}` : '',
    of.default === undefined ? '' : `default ${JSON.stringify(of.default)}`,
  ].filter((limit) => limit !== '');
}

function between(least: number | undefined, most: number | undefined, unit: string): string {
  if (most === undefined) return least === undefined ? '' : `at least ${least}${unit}`;
  if (least === undefined) return `at most ${most}${unit}`;
  return least === most ? `${most}${unit}` : `${least} to ${most}${unit}`;
}
