import { html, type Html } from '../html.ts';
import { nameOf, type Parameter, type Schema } from './document.ts';
import { prose } from './words.ts';

export type Schemas = Readonly<Record<string, Schema>>;

/** Deeper than any shape goes; a shape that held itself would never end. */
const MAX_DEPTH = 8;
/** A pattern longer than this says nothing to a reader. */
const MAX_PATTERN = 48;

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** The fields of a shape, each with its type, its limits and what it is; those that have fields themselves fold them. */
export function fieldList(schema: Schema, schemas: Schemas, depth = 0): Html | undefined {
  const fields = fieldsOf(schema, schemas);
  if (fields.length === 0 || depth > MAX_DEPTH) return undefined;
  return html`<ul class="fields">
    ${fields.map((field) => fieldItem(field, schemas, depth))}
  </ul>`;
}

export function parameterList(parameters: readonly Parameter[], schemas: Schemas): Html {
  const fields = parameters.map(({ name, schema, required }) => ({ name, schema, isRequired: required === true }));
  return html`<ul class="fields">
    ${fields.map((field) => fieldItem(field, schemas, 0))}
  </ul>`;
}

function fieldItem({ name, schema, isRequired }: Field, schemas: Schemas, depth: number): Html {
  const inner = fieldList(schema, schemas, depth + 1);
  const whole = resolve(schema, schemas);
  const about = schema.description ?? whole.description;
  const limits = limitsOf(whole);
  return html`<li>
    <div class="field">
      <code class="name">${name}</code>
      <span class="type">${typeOf(schema, schemas)}</span
      >${isRequired && html` <span class="required">required</span>`}${limits.length > 0 && html` <span class="limits">${limits.join(', ')}</span>`}
    </div>
    ${about !== undefined && html`<p>${prose(about)}</p>`}${
      inner &&
      html`<details>
        <summary>Fields of <code>${name}</code></summary>
        ${inner}
      </details>`
    }
  </li>`;
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {});
}

/** The fields of an object, of the entries of a list or a map, or of what one of several may be. */
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

/** Fields that several shapes share are described once. */
function unique(fields: readonly Field[]): Field[] {
  return fields.filter(({ name }, index) => fields.findIndex((other) => other.name === name) === index);
}

function typeOf(schema: Schema, schemas: Schemas): string {
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
