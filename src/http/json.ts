import { isUtf8 } from 'node:buffer';
import { clip } from '../kernel/clip.ts';
import { Refusal } from '../protocol/refusal.ts';
import { findUnstorable } from '../kernel/unstorable.ts';

const MAX_DEPTH = 32;
const MAX_PATH_LENGTH = 200;

/** Parses a body: one JSON object in UTF-8, nested at most 32 deep (contract section 2). */
export function parseJsonObject(body: Buffer): Record<string, unknown> | Refusal {
  if (body.length === 0) return malformed('The body is empty; send a JSON object.');
  if (!isUtf8(body)) return malformed('The body is not valid UTF-8.');
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return malformed(`The body is not valid JSON: ${describeSyntax(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return malformed('The body must be a JSON object.');
  const names = namesIn(value, MAX_DEPTH);
  if (names === undefined) return malformed(`The body is nested more than ${MAX_DEPTH} deep.`);
  if (names.length !== namesAtMost(text)) {
    const written = namesWritten(text);
    if (names.length !== written.length) return repeated(written, names);
  }
  // Only an escape can bring in what UTF-8 and JSON do not allow as they are.
  const details = text.includes('\\u') ? findUnstorable(value) : [];
  if (details.length > 0)
    return new Refusal('INVALID_REQUEST', `${details[0]?.path}: ${details[0]?.message}`, { details });
  return value as Record<string, unknown>;
}

/** What the parser says, without the piece of the body that some of its messages quote: refusals are logged, and it may be a code. */
function describeSyntax(error: unknown): string {
  if (!(error instanceof SyntaxError)) return '';
  return /^Unexpected token '.+?'(?=, )|^[^"']*(?:'[^']'[^"']*)*$/u.exec(error.message)?.[0] ?? 'it cannot be read';
}

function malformed(message: string): Refusal {
  return new Refusal('INVALID_REQUEST', message, { details: [{ path: '', message }] });
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
