import type { z } from 'zod';
import { clip, findUnstorable } from '../kernel/text.ts';
import { nearest } from '../protocol/validation-messages.ts';
import type { Refusal } from '../protocol/refusal.ts';
import { fieldsInWords, invalidFields, MAX_NAME_LENGTH } from './refusals.ts';

/** Parses a query by its schema; a refusal names the parameters that are unknown, invalid, repeated or cannot be stored. */
export function readQuery<S extends z.ZodObject>(query: string, schema: S): z.output<S> | Refusal {
  const given = [...new URLSearchParams(query)];
  const values = Object.fromEntries(given);
  const names = given.map(([name]) => name);
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].slice(0, 20);
  if (repeated.length > 0) return invalidFields(repeated.map((path) => ({ path, message: 'comes more than once' })));
  const known = Object.keys(schema.shape);
  const unknown = names.filter((name) => !known.includes(name)).slice(0, 20);
  if (unknown.length > 0) {
    return invalidFields(
      unknown.map((name) => ({ path: clip(name, MAX_NAME_LENGTH), message: unknownParameter(name, known) })),
    );
  }
  const unstorable = findUnstorable(values);
  if (unstorable.length > 0) return invalidFields(unstorable);
  const read = schema.safeParse(values);
  return read.success ? read.data : invalidFields(fieldsInWords(schema, values));
}

function unknownParameter(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'is not known here; there are none';
  const meant = nearest(name, known);
  return `is not known here; ${meant === undefined ? '' : `did you mean ${meant}? `}known are ${known.join(', ')}`;
}
