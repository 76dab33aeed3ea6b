import { isUtf8 } from 'node:buffer';
import { Refusal } from '../kernel/errors.ts';

const MAX_DEPTH = 32;

/** Parses a body: one JSON object in UTF-8, nested at most 32 deep (contract section 2). */
export function parseJsonObject(body: Buffer): Record<string, unknown> | Refusal {
  if (body.length === 0) return malformed('The body is empty; send a JSON object.');
  if (!isUtf8(body)) return malformed('The body is not valid UTF-8.');
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return malformed(`The body is not valid JSON: ${error instanceof Error ? error.message.slice(0, 200) : ''}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return malformed('The body must be a JSON object.');
  if (isDeeperThan(value, MAX_DEPTH)) return malformed(`The body is nested more than ${MAX_DEPTH} deep.`);
  // Only an escape can bring in what UTF-8 and JSON do not allow as they are.
  if (text.includes('\\u') && holdsUnstorable(value))
    return malformed('A text holds U+0000 or half of a surrogate pair, which cannot be stored.');
  return value as Record<string, unknown>;
}

/** Whether a name or a text in the value has characters that PostgreSQL refuses. */
function holdsUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, item]) => holdsUnstorable(name) || holdsUnstorable(item));
}

function malformed(message: string): Refusal {
  return new Refusal('INVALID_REQUEST', message, { details: [{ path: '', message }] });
}

/** Bounded, because what parses may still overflow the stack when it is written or compared later. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value)
    if (Object.hasOwn(value, key) && isDeeperThan((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}
