import { UNITS } from '../../protocol/fields.ts';
import {
  endpointsOf,
  nameOf,
  type AsyncApi,
  type Content,
  type OpenApi,
  type Operation,
  type Schema,
  type Schemas,
} from './document.ts';

/** What is known of a list, a map or a choice, and so applies to its items too. */
interface Said {
  readonly examples?: readonly unknown[] | undefined;
  readonly unit?: string | undefined;
}

/**
 * What the interface descriptions lack, one line each with its place: fields, parameters and headers without a description, values
 * without an example, numbers without a unit. The build fails if there are any.
 */
export function undescribed({ paths, components }: OpenApi, { components: { messages } }: AsyncApi): string[] {
  const { schemas, headers } = components;
  const operations = endpointsOf({ paths }).flatMap(({ operation }) => inOperation(operation, schemas));
  const named = Object.entries(schemas).flatMap(([name, schema]) => inValue(name, schema, {}, schemas));
  const headersTold = Object.entries(headers).flatMap(([name, { description, example, schema }]) =>
    inField(`header ${name}`, { ...schema, description, examples: [example] }, schemas),
  );
  const frames = Object.entries(messages).flatMap(([name, { payload }]) => inValue(`frame ${name}`, payload, {}, {}));
  return [...new Set([...operations, ...named, ...headersTold, ...frames])];
}

function inOperation({ operationId, parameters = [], requestBody, responses }: Operation, schemas: Schemas): string[] {
  const bodies: readonly (readonly [string, Readonly<Record<string, Content>> | undefined])[] = [
    ['body', requestBody?.content],
    ...Object.entries(responses).map(([status, { content }]) => [status, content] as const),
  ];
  return [
    ...parameters.flatMap(({ in: place, name, description, schema }) =>
      inField(
        `${operationId} ${place} ${name}`,
        { ...schema, description: description ?? schema.description },
        schemas,
      ),
    ),
    ...bodies.flatMap(([place, content = {}]) =>
      Object.values(content).flatMap(({ schema, example }) =>
        inValue(`${operationId} ${place}`, schema, example === undefined ? {} : { examples: [example] }, schemas),
      ),
    ),
  ];
}

function inField(path: string, schema: Schema, schemas: Schemas): string[] {
  const { description = '' } = resolve(schema, schemas);
  return [...(description === '' ? [`${path} has no description`] : []), ...inValue(path, schema, {}, schemas)];
}

/** Named schemas are checked at their definition. */
function inValue(path: string, schema: Schema, around: Said, schemas: Schemas): string[] {
  if (schema.$ref !== undefined) return [];
  const { properties = {}, items, anyOf, oneOf, additionalProperties } = schema;
  const said = { examples: schema.examples ?? around.examples, unit: schema['x-unit'] ?? around.unit };
  const fields = Object.entries(properties);
  const parts = [
    ...(anyOf ?? oneOf ?? []),
    ...[items, additionalProperties].filter((part) => typeof part === 'object'),
  ];
  if (fields.length === 0 && parts.length === 0) return inLeaf(path, schema, said);
  return [
    ...fields.flatMap(([name, field]) => inField(`${path}.${name}`, field, schemas)),
    ...parts.flatMap((part) => inValue(path, part, said, schemas)),
  ];
}

function inLeaf(path: string, { type, const: only, enum: some }: Schema, { examples, unit }: Said): string[] {
  const types = [type].flat();
  // Constants, enumerations, booleans and null need no example.
  if (only !== undefined || some !== undefined || types.every((one) => one === 'boolean' || one === 'null')) return [];
  const isNumber = types.includes('number') || types.includes('integer');
  return [
    ...((examples ?? []).length === 0 ? [`${path} has no example`] : []),
    ...(isNumber && !(UNITS as readonly (string | undefined)[]).includes(unit)
      ? [`${path} is a number without a unit (x-unit)`]
      : []),
  ];
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.$ref === undefined ? schema : { ...schemas[nameOf(schema.$ref)], ...schema };
}
