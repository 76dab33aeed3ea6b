import { z } from 'zod';
import { wrongField, type Refusal } from './refusal.ts';

const MAX_KEY = 255;
/** Long enough that a random key cannot be guessed: the reply of a create holds a secret. */
export const MIN_CREATE_KEY = 16;

const key = (minLength: number, description: string) =>
  z.object({
    'Idempotency-Key': z
      .string()
      .min(minLength)
      .max(MAX_KEY)
      .optional()
      .meta({ description, examples: ['9f8a7b6c5d4e3f2a1b0c9d8e'] }),
  });

/** The header that makes a request safe to repeat (docs/contract.md, section 5.2). */
export const idempotencyHeader = key(
  1,
  'Repeating a request with the same key and body gives the same reply and does nothing twice. Use a random value.',
);

/** The same header for a create. */
export const createIdempotencyHeader = key(
  MIN_CREATE_KEY,
  'Repeating a create with the same key and body, from the same page and network, returns the same session and mints nothing twice. Use a random value.',
);

/** Returns INVALID_REQUEST for an Idempotency-Key that is too short or too long. */
export function refuseKey(key: string, minLength = 1): Refusal | undefined {
  if (key.length >= minLength && key.length <= MAX_KEY) return undefined;
  return wrongField('Idempotency-Key', `must have ${minLength} to ${MAX_KEY} characters`);
}
