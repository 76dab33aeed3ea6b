import { isUtf8 } from 'node:buffer';
import { Refusal } from '../kernel/errors.ts';
import { findUnstorable } from '../kernel/unstorable.ts';

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
  const details = text.includes('\\u') ? findUnstorable(value) : [];
  if (details.length > 0)
    return new Refusal('INVALID_REQUEST', `${details[0]?.path}: ${details[0]?.message}`, { details });
  return value as Record<string, unknown>;
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
