import { isObject, parseJson } from '../../kernel/post.ts';
import { MAX_ARGUMENTS_BYTES } from './tool-limits.ts';

type Arguments = Readonly<Record<string, unknown>>;

const isOf: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
  null: (value) => value === null,
};

/**
 * The arguments of a tool call, if they are an object with everything that the tool requires, each value of the type that its parameters declare.
 * Only the first level is checked: the tool's server checks the rest.
 * @param json as the model wrote it
 * @param parameters a JSON schema
 * @returns undefined for arguments that do not fit
 */
export function readArguments(json: string, parameters: Arguments | undefined): Arguments | undefined {
  const parsed = parse(json);
  if (parsed === undefined) return undefined;
  const { properties, required } = parameters ?? {};
  const names = Array.isArray(required) ? required.map(String) : [];
  if (!names.every((name) => Object.hasOwn(parsed, name))) return undefined;
  const schemas = isObject(properties) ? properties : {};
  return Object.entries(parsed).every(([name, value]) => fits(value, Object.hasOwn(schemas, name) ? schemas[name] : {}))
    ? parsed
    : undefined;
}

function parse(json: string): Arguments | undefined {
  if (Buffer.byteLength(json) > MAX_ARGUMENTS_BYTES) return undefined;
  const parsed = parseJson(json.trim() === '' ? '{}' : json);
  return isObject(parsed) ? parsed : undefined;
}

/** A type that JSON schema does not define does not make a value fail. */
function fits(value: unknown, schema: unknown): boolean {
  const { type } = isObject(schema) ? schema : {};
  if (type === undefined) return true;
  return [type].flat().some((name) => typeof name !== 'string' || (isOf[name]?.(value) ?? true));
}
