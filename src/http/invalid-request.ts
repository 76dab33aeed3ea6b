import type { z } from 'zod';
import { issuesInWords } from '../protocol/issue-words.ts';
import { Refusal } from '../protocol/refusal.ts';

/** What is wrong with one field, parameter or header. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

/** The refusal of a request that is wrong in one place, by default its body as a whole. */
export function invalid(message: string, path = ''): Refusal {
  return new Refusal('INVALID_REQUEST', message, { details: [{ path, message }] });
}

/** The refusal of a request with wrong fields, of which there is one at least. */
export function invalidFields(details: readonly Detail[]): Refusal {
  const [first] = details;
  return new Refusal('INVALID_REQUEST', `${first?.path === '' ? 'body' : first?.path}: ${first?.message}`, { details });
}

/** Says in words what is wrong with each field of a value that its schema refused. */
export function fieldsInWords(schema: z.ZodType, value: unknown): Detail[] {
  return issuesInWords(schema, value).map(({ path, message }) => ({ path: path.join('.'), message }));
}
