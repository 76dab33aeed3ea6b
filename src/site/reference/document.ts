/** What the reference reads of a JSON schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  /** The unit of a number: one of `UNITS`. */
  readonly 'x-unit'?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

export interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Reply {
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Reply>>;
}

interface HeaderTold {
  readonly description: string;
  readonly schema: Schema;
  readonly example: unknown;
}

/** The parts of an OpenAPI 3.1 document that are shown. */
export interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly headers: Readonly<Record<string, HeaderTold>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
}

/** The parts of an AsyncAPI 3.0 document that are shown. */
export interface AsyncApi {
  readonly channels: Readonly<
    Record<string, { readonly address: string; readonly title: string; readonly description: string }>
  >;
  readonly operations: Readonly<
    Record<
      string,
      {
        readonly action: 'send' | 'receive';
        readonly summary: string;
        readonly channel: { readonly $ref: string };
        readonly messages: readonly { readonly $ref: string }[];
        readonly reply?: { readonly messages: readonly { readonly $ref: string }[] };
      }
    >
  >;
  readonly components: { readonly messages: Readonly<Record<string, { readonly payload: Schema }>> };
}

/** An operation with its method and path. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function endpointsOf({ paths }: Pick<OpenApi, 'paths'>): Endpoint[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** The last part of a `$ref`: `#/components/schemas/Error` is Error. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** A schema itself, where it is a reference to one. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {});
}

/** The content of a body and its type; each body has one type only. */
export function contentOf(of: { readonly content?: Readonly<Record<string, Content>> } | undefined) {
  const [found] = Object.entries(of?.content ?? {});
  return found && { type: found[0], ...found[1] };
}

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
