import { resolve, type Schema, type Schemas } from './document.ts';

/** A minimal value of a shape: its required fields only, from their examples. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  if (schema.$ref !== undefined) return exampleOf(resolve(schema, schemas), schemas);
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.enum?.map((value) => ({ const: value })) ?? [];
  if (schema.const !== undefined) return schema.const;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (first !== undefined) return exampleOf(first, schemas);
  if (schema.properties !== undefined) {
    const wanted = Object.entries(schema.properties).filter(([name]) => schema.required?.includes(name));
    return Object.fromEntries(wanted.map(([name, of]) => [name, exampleOf(of, schemas)]));
  }
  if (schema.items !== undefined) return [exampleOf(schema.items, schemas)];
  if (schema.type === 'boolean') return true;
  if (typeof schema.additionalProperties !== 'object') return null;
  return { name: exampleOf(schema.additionalProperties, schemas) };
}
