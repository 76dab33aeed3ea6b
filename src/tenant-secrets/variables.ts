import type { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** A comma-separated list of 32-byte keys in base64. Messages never repeat a key. */
const keyList: z.ZodType<Buffer[], string> = s.list.transform((entries, context) => {
  const keys = entries.map((entry) => Buffer.from(entry, 'base64'));
  const isKey = (key: Buffer, at: number): boolean =>
    key.length === 32 && key.toString('base64').replace(/=$/, '') === entries[at]?.replace(/=$/, '');
  if (keys.length === 0 || !keys.every(isKey))
    context.addIssue({
      code: 'custom',
      message: 'each must be 32 bytes in base64: what openssl rand -base64 32 prints',
    });
  return keys;
});

export const sealingKeys = variable(
  'SEALING_KEY',
  keyList,
  { unset: 'development: a random one kept in the database; production: no secrets can be kept' },
  'encrypts the secrets of tenants; comma-separated for rotation: the first encrypts, all decrypt',
  { example: 'the output of: openssl rand -base64 32', secret: 'all' },
);
