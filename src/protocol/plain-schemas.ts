import type { Unit } from './fields.ts';

type Json = Readonly<Record<string, unknown>>;

/** The parts of a schema that describe a value without constraining it. */
const SAID = ['description', 'examples', 'x-unit'] as const;
/** Units that tell a reader nothing. */
const SILENT: ReadonlySet<unknown> = new Set<Unit>(['count', 'share', 'factor', 'none', 'varies']);

/**
 * Rewrites the JSON schemas in a document for people and generators: descriptions of nullable values move from an `anyOf` alternative to the
 * value itself, a number's unit is appended to its description, and bounds that only say how large a JavaScript number gets are removed.
 */
export function plainSchemas<T>(document: T): T {
  return plain(document) as T;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return referenceOf(value);
  const entries = Object.entries(value).filter((entry) => !isOfEveryNumber(entry));
  const whole: Json = Object.fromEntries(entries.map(([name, part]) => [name, plain(part)]));
  return 'in' in whole && 'schema' in whole ? parameterOf(whole) : withUnit(withoutAlternative(whole));
}

/** Keeps only the description beside a reference: it says what the value means there, and constrains nothing. */
function referenceOf({ $ref, description }: { readonly $ref: unknown; readonly description?: unknown }): Json {
  return description === undefined ? { $ref } : { $ref, description };
}

/** Gives a parameter the description of its schema. */
function parameterOf(parameter: Json): Json {
  const { description } = parameter['schema'] as Json;
  return description === undefined ? parameter : { ...parameter, description };
}

function isOfEveryNumber([name, value]: readonly [string, unknown]): boolean {
  return (
    (name === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
    (name === 'maximum' && value === Number.MAX_SAFE_INTEGER)
  );
}

function withoutAlternative(schema: Json): Json {
  const { anyOf, ...outer } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [inner = {}, none = {}] = anyOf as readonly Json[];
  if (none['type'] !== 'null' || '$ref' in inner) return schema;
  const said = Object.fromEntries(SAID.filter((name) => name in inner).map((name) => [name, inner[name]]));
  const bare = Object.fromEntries(Object.entries(inner).filter(([name]) => !(name in said)));
  const isType = Object.keys(bare).length === 1 && typeof bare['type'] === 'string';
  return { ...(isType ? { type: [bare['type'], 'null'] } : { anyOf: [bare, none] }), ...said, ...outer };
}

function withUnit(schema: Json): Json {
  const { description, 'x-unit': unit } = schema;
  if (typeof description !== 'string' || typeof unit !== 'string' || SILENT.has(unit)) return schema;
  const told = ` In ${unit}.`;
  if (description.endsWith(told)) return schema;
  return { ...schema, description: `${description}${/[.!?]$/.test(description) ? '' : '.'}${told}` };
}
