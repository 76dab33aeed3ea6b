import { isUtf8 } from 'node:buffer';
import { clip } from '../../kernel/clip.ts';
import { Refusal } from '../../kernel/errors.ts';
import { findUnstorable } from '../../kernel/unstorable.ts';
import { fieldsInWords, invalid, invalidFields } from '../invalid-request.ts';
import type { HttpRequest } from '../message.ts';
import type { RequestContext } from '../request-context.ts';

const MAX_DEPTH = 32;
const MAX_PATH_LENGTH = 200;

/** Reads the body by the schema of its route; a request without one is right where the schema takes undefined. */
export function readBody(x: RequestContext): Refusal | undefined {
  const schema = x.route?.body;
  if (schema === undefined) return undefined;
  const { body } = x.request;
  if (body.length === 0 && schema.safeParse(undefined).success) return undefined;
  const value = body === 'too_large' ? tooLarge() : (wrongContent(x.request) ?? parseJsonObject(body));
  if (value instanceof Refusal) return value;
  const checked = schema.safeParse(value);
  if (!checked.success) return invalidFields(fieldsInWords(schema, value).slice(0, 20));
  x.body = checked.data;
  return undefined;
}

function tooLarge(): Refusal {
  return new Refusal('PAYLOAD_TOO_LARGE', 'A body may have at most 64 KiB.');
}

function wrongContent({ headers }: HttpRequest): Refusal | undefined {
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? ''))
    return new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body as it is (Content-Encoding: identity), not compressed.',
    );
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers['content-type'] ?? ''))
    return new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json in UTF-8.');
  return undefined;
}

/** Parses a body: one JSON object in UTF-8, nested at most 32 deep (docs/contract.md, section 2). */
export function parseJsonObject(body: Buffer): Record<string, unknown> | Refusal {
  if (body.length === 0) return invalid('The body is empty; send a JSON object.');
  if (!isUtf8(body)) return invalid('The body is not valid UTF-8.');
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return invalid(`The body is not valid JSON: ${describeSyntax(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return invalid('The body must be a JSON object.');
  const names = namesIn(value, MAX_DEPTH);
  if (names === undefined) return invalid(`The body is nested more than ${MAX_DEPTH} deep.`);
  if (names.length !== namesAtMost(text)) {
    const written = namesWritten(text);
    if (names.length !== written.length) return repeated(written, names);
  }
  // Only an escape can bring in what UTF-8 and JSON do not allow as they are.
  const unstorable = text.includes('\\u') ? findUnstorable(value) : [];
  return unstorable.length > 0 ? invalidFields(unstorable) : (value as Record<string, unknown>);
}

/** What the parser says, without the piece of the body that some of its messages quote: refusals are logged, and it may be a code. */
function describeSyntax(error: unknown): string {
  if (!(error instanceof SyntaxError)) return '';
  return /^Unexpected token '.+?'(?=, )|^[^"']*(?:'[^']'[^"']*)*$/u.exec(error.message)?.[0] ?? 'it cannot be read';
}

/** Counts the colons behind a quote: every name has one, and few values do. Much cheaper than reading the names. */
function namesAtMost(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let before = colon - 1;
    while (isBlank(text.charCodeAt(before))) before -= 1;
    if (text.charCodeAt(before) === QUOTE) count += 1;
  }
  return count;
}

const QUOTE = 0x22;

/** The blanks of JSON: space, line feed, carriage return, tab. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** A string, and whether it is a name. JSON that is valid has no quotes but those of strings. */
const string = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/** The names of all fields as they are written, repeated ones included, still escaped and in quotes. */
function namesWritten(text: string): string[] {
  const names: string[] = [];
  for (const [literal, colon] of text.matchAll(string))
    if (colon !== undefined) names.push(literal.slice(0, -colon.length));
  return names;
}

/**
 * The names of all fields of a parsed value; undefined when it is nested deeper than so many levels.
 * Bounded, because what parses may still overflow the stack when it is written or compared later.
 */
function namesIn(value: unknown, levels: number, names: string[] = []): string[] | undefined {
  if (typeof value !== 'object' || value === null) return names;
  if (levels === 0) return undefined;
  const fields = Array.isArray(value) ? value : Object.values(value);
  if (fields !== value) names.push(...Object.keys(value));
  for (const field of fields) if (namesIn(field, levels - 1, names) === undefined) return undefined;
  return names;
}

/** JSON.parse takes the last of two fields with one name; whoever looked at the body on its way may have taken the first. */
function repeated(written: readonly string[], names: readonly string[]): Refusal {
  const surplus = new Map<string, number>();
  const count = (name: string, by: number): unknown => surplus.set(name, (surplus.get(name) ?? 0) + by);
  for (const name of written) count(String(JSON.parse(name)), 1);
  for (const name of names) count(name, -1);
  const twice = [...surplus.keys()].filter((name) => surplus.get(name) !== 0).slice(0, 20);
  const paths = twice.map((name) => clip(name, MAX_PATH_LENGTH));
  const details = paths.map((path) => ({ path, message: 'comes more than once in an object' }));
  return new Refusal('INVALID_REQUEST', `${paths[0]}: comes more than once in an object; send it once`, { details });
}
