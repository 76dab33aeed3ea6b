import type { z } from 'zod';
import { clip } from '../kernel/text.ts';
import { issuesInWords } from '../protocol/validation-messages.ts';
import { Refusal } from '../protocol/refusal.ts';

/** What is wrong with one field, parameter or header. */
export interface Detail {
  readonly path: string;
  readonly message: string;
}

/** Names in refusals are cut to this length: an unknown name may be as long as the body that contains it. */
export const MAX_NAME_LENGTH = 200;

/** The refusal of a request with one fault, by default in its body as a whole. */
export function invalid(message: string, path = ''): Refusal {
  return new Refusal('INVALID_REQUEST', message, { details: [{ path, message }] });
}

/** The refusal of a request with invalid fields. @param details at least one */
export function invalidFields(details: readonly Detail[]): Refusal {
  const [first] = details;
  return new Refusal('INVALID_REQUEST', `${first?.path === '' ? 'body' : first?.path}: ${first?.message}`, { details });
}

/** Describes what is wrong with each field of a value that its schema refused. */
export function fieldsInWords(schema: z.ZodType, value: unknown): Detail[] {
  return issuesInWords(schema, value).map(({ path, message }) => ({
    path: clip(path.join('.'), MAX_NAME_LENGTH),
    message,
  }));
}
