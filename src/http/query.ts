import type { z } from 'zod';
import { Refusal } from '../kernel/errors.ts';
import { findUnstorable } from '../kernel/unstorable.ts';

interface Detail {
  readonly path: string;
  readonly message: string;
}

/** Reads a query by its schema; a refusal names the parameters that are wrong, came twice or could not be stored. */
export function readQuery<T>(query: string, schema: z.ZodType<T>): T | Refusal {
  const given = [...new URLSearchParams(query)];
  const values = Object.fromEntries(given);
  const names = given.map(([name]) => name);
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].slice(0, 20);
  if (repeated.length > 0) return invalidQuery(repeated.map((path) => ({ path, message: 'comes more than once' })));
  const unstorable = findUnstorable(values);
  if (unstorable.length > 0) return invalidQuery(unstorable);
  const read = schema.safeParse(values);
  if (read.success) return read.data;
  return invalidQuery(read.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
}

export function invalidQuery(details: readonly Detail[]): Refusal {
  return new Refusal('INVALID_REQUEST', `${details[0]?.path}: ${details[0]?.message}`, { details });
}
